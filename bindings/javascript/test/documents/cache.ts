import { VectorCache } from "@knowledgepulse/sdk";
const cache = new VectorCache({
maxElements: 1000,
dimensions: 384,
ttlMs: 3600000, // 1 hour — entries expire after this
});

// Not of the document: what it gives.
export { cache };
