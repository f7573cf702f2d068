"use strict";
// What changes with the matches of the arena renews itself, deadlines count down, commands can be copied.
const live = () => [...document.querySelectorAll("[data-live]")];
let source = null;
let isDue = false;
let ahead = 0;
const renew = async () => {
  // Several changes at once are one look.
  if (isDue) return;
  isDue = true;
  await new Promise((done) => setTimeout(done, 400));
  isDue = false;
  const answer = await fetch(location.href, { headers: { accept: "text/html" } });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const old of live()) {
    const fresh = page.getElementById(old.id);
    if (fresh) old.replaceWith(fresh);
  }
  document.title = page.title;
  start();
};
const tick = () => {
  for (const time of document.querySelectorAll("[data-live] time")) {
    const left = Math.ceil((Date.parse(time.dateTime) - Date.now() - ahead) / 1000);
    if (time.dataset.shown === undefined) {
      if (left <= 0) continue;
      time.dataset.shown = time.textContent;
    }
    if (left < 0) continue;
    const minutes = Math.floor(left / 60);
    time.textContent = `${time.dataset.shown}, ${minutes ? `${minutes} min ` : ""}${left % 60} s left`;
    if (left === 0) renew();
  }
};
const start = () => {
  const [first] = live();
  // The clock of the server counts.
  if (first) ahead = Date.parse(first.dataset.now) - Date.now();
  else if (source) source.close();
  tick();
};
const open = () => {
  const [first] = live();
  if (!first) return;
  source = new EventSource(first.dataset.live);
  source.addEventListener("match", renew);
};
// A page that nobody looks at holds no connection.
document.addEventListener("visibilitychange", () => {
  if (document.hidden && source) source.close();
  else if (!document.hidden && source) {
    open();
    renew();
  }
});
start();
open();
setInterval(tick, 1000);
