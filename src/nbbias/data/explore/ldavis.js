"use strict";
(async () => {
  // It is 1,240 pixels wide, whatever the frame is.
  const fit = () => {
    document.body.style.zoom = innerWidth ? Math.max(0.6, Math.min(1, innerWidth / 1240)) : 1;
  };
  addEventListener("resize", fit);
  fit();
  // A frame without an origin may not write its address.
  history.pushState = history.replaceState = () => {};
  try {
    const packed = document.getElementById("packed").innerHTML;
    const bytes = Uint8Array.from(atob(packed), (one) => one.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const { code, data } = await new Response(stream).json();
    const script = document.createElement("script");
    script.textContent = code;
    document.body.append(script);
    new LDAvis("#v", data);
    const slider = document.querySelector("input[type=range]");
    slider.value = 0.2; // words that are rare elsewhere tell topics apart
    slider.dispatchEvent(new Event("mouseup"));
  } catch {
    document.body.innerHTML = "<p>This view needs a browser of 2023 or later.</p>";
  }
})();
