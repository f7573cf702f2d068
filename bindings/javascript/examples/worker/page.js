// The page: it starts a worker, shows how far that is, and watches its own frames.

const [start, done, says] = ["start", "done", "says"].map((id) => document.getElementById(id));

start.addEventListener("click", () => {
  start.disabled = true;
  const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  const frames = watchFrames();
  worker.addEventListener("message", ({ data }) => {
    done.value = data.scored;
    if (data.scored < done.max) return;
    const gap = frames.end();
    worker.terminate();
    start.disabled = false;
    const seconds = (data.milliseconds / 1000).toFixed(1);
    says.textContent = `${data.scored} scores in ${seconds} s, mean ${data.mean.toFixed(3)}; the longest pause between frames: ${gap.toFixed(0)} ms`;
    Object.assign(document.body.dataset, { scored: data.scored, compared: data.compared, gap });
  });
  worker.addEventListener("error", (event) => {
    says.textContent = event.message;
    document.body.dataset.failed = event.message;
  });
  worker.postMessage({ traces: done.max, vectors: 1000, dimensions: 384 });
});

/** Measures the longest time between two frames. */
function watchFrames() {
  let [last, longest, isOver] = [performance.now(), 0, false];
  requestAnimationFrame(function frame() {
    const now = performance.now();
    [last, longest] = [now, Math.max(longest, now - last)];
    if (!isOver) requestAnimationFrame(frame);
  });
  return {
    end() {
      isOver = true;
      return longest;
    },
  };
}
