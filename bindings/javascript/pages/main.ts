/** The script of the pages that compute in the browser. */

import { start as startVerifying } from "./verify.js";
import { start as startTrying } from "./what-if.js";

void startVerifying();
startTrying();
