// Sliders for weights: one beside each field, with the answer while it moves. The form works without them.
for (const form of document.querySelectorAll("form[data-what-if]")) {
  const result = document.getElementById("what-if-result");
  let waiting = 0, asking = null;
  const show = async () => {
    const query = new URLSearchParams(new FormData(form)).toString();
    if (asking) asking.abort();
    asking = new AbortController();
    result.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(`${form.dataset.whatIf}?${query}`, { signal: asking.signal });
      if (answer.ok) {
        result.innerHTML = await answer.text();
        history.replaceState(null, "", `?${query}`);
      } else {
        result.textContent = (await answer.json()).detail;
      }
    } catch (error) {
      if (error.name === "AbortError") return;
      result.textContent = "The server does not answer.";
    }
    result.removeAttribute("aria-busy");
  };
  const soon = () => {
    clearTimeout(waiting);
    waiting = setTimeout(show, 80);
  };
  for (const field of form.querySelectorAll("input[type=number]")) {
    const slider = document.createElement("input");
    slider.type = "range";
    slider.min = 0;
    slider.max = field.dataset.top;
    slider.step = field.dataset.top / 200;
    slider.value = field.value;
    slider.setAttribute("aria-label", `${field.labels[0].textContent}, slider`);
    slider.addEventListener("input", () => {
      field.value = slider.value;
      soon();
    });
    field.addEventListener("input", () => {
      slider.value = field.value;
      soon();
    });
    field.after(slider);
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    show();
  });
}
