(function () {
  "use strict";
  var N = window.nlgauge, every = N.every, ink = N.ink;
  var kept = null;
  function data() { return kept || (kept = unpack(document.getElementById("data").textContent).then(JSON.parse)); }  // figures, folded tables, outputs
  var paper = false, PAPER = 680;  // width of a printed figure
  var settings = { displayModeBar: false, responsive: true };

  // --- plotly is packed: unpack it when the first figure is needed ---
  var plotly = null;
  function load() {
    if (!plotly) {
      plotly = unpack(document.getElementById("plotly").textContent).then(function (code) {
        var script = document.createElement("script");
        script.textContent = code;
        document.head.appendChild(script);
        return window.Plotly;
      });
    }
    return plotly;
  }
  function unpack(text) {
    if (!window.DecompressionStream) return Promise.reject(new Error("old browser"));
    var signs = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;,=>?@^_`{|}~", value = {};
    for (var k = 0; k < 85; k++) value[signs.charCodeAt(k)] = k;
    var spare = (5 - text.length % 5) % 5, packed = new Uint8Array((text.length + spare) / 5 * 4), bytes = new DataView(packed.buffer);
    text += "~~~~".slice(0, spare);
    for (var at = 0; at < text.length; at += 5) {  // five signs of base 85 are four bytes
      var sum = 0;
      for (var i = 0; i < 5; i++) sum = sum * 85 + value[text.charCodeAt(at + i)];
      bytes.setUint32(at / 5 * 4, sum);
    }
    packed = packed.subarray(0, packed.length - spare);
    return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  }

  // --- figures are drawn when they come into view ---
  function draw(place) {
    if (place.dataset.asked) return Promise.resolve();
    place.dataset.asked = "yes";
    return Promise.all([load(), data()]).then(function (ready) {
      var Plotly = ready[0], figure = ready[1].figures[place.dataset.figure];
      figure.layout.template = ready[1].template;
      figure.layout.font.color = paper ? "#000" : ink();
      if (paper) figure.layout.width = PAPER;
      return Plotly.newPlot(place, figure.data, figure.layout, settings);
    }).then(function () { place.classList.add("drawn"); }, function (error) {
      if (error.message !== "old browser") throw error;
      place.textContent = "This browser cannot unpack the figures; the tables hold the same numbers.";
    });
  }
  var places = every(".plot");
  function whenSeen(place, then) {
    if (!window.IntersectionObserver) { then(); return; }
    new IntersectionObserver(function (seen, watch) {
      if (seen.some(function (s) { return s.isIntersecting; })) { watch.disconnect(); then(); }
    }, { rootMargin: "300px" }).observe(place);
  }
  places.forEach(function (place) { whenSeen(place, function () { draw(place); }); });
  document.addEventListener("nlgauge:theme", function () {
    every(".js-plotly-plot").forEach(function (p) { window.Plotly.relayout(p, { "font.color": ink() }); });
  });
  (window.requestIdleCallback || function (f) { setTimeout(f, 500); })(function () { load().catch(function () {}); });

  // --- what the first screen chose holds for the sections too; the contents say where the reader is ---
  if (N.show) N.show();
  var links = every("nav a");
  if (window.IntersectionObserver) links.forEach(function (link) {
    var place = document.getElementById(link.hash.slice(1));
    if (place) new IntersectionObserver(function (seen) {
      if (!seen[0].isIntersecting) return;
      links.forEach(function (other) { other.removeAttribute("aria-current"); });
      link.setAttribute("aria-current", "true");
    }, { rootMargin: "-10% 0px -80% 0px" }).observe(place);
  });

  // --- tables sort by any column ---
  function key(cell) {  // the number by which `yes .83 [.80 .86]` or `62%` sorts
    if (!cell || cell.dataset.v !== undefined) return cell ? Number(cell.dataset.v) : NaN;
    return cell.textContent.trim().split(/\s+/).slice(0, 2).map(function (w) { return /^[-+]?[\d.,]+%?$/.test(w) ? Number(w.replace(/[%,]/g, "")) : NaN; }).filter(function (v) { return !isNaN(v); }).concat(NaN)[0];
  }
  function sort(table, column, head) {
    var body = table.tBodies[0], rows = Array.prototype.slice.call(body.rows);
    var numbers = rows.some(function (r) { return !isNaN(key(r.cells[column])); });
    var now = head.getAttribute("aria-sort");
    var up = now ? now === "descending" : !numbers;  // numbers begin with the largest
    var sign = up ? 1 : -1;
    rows.sort(function (a, b) {
      var x = a.cells[column], y = b.cells[column];
      if (!numbers) return sign * x.textContent.localeCompare(y.textContent);
      if (isNaN(key(x)) || isNaN(key(y))) return isNaN(key(x)) - isNaN(key(y));  // missing stays last
      return sign * (key(x) - key(y));
    });
    rows.forEach(function (r) { body.appendChild(r); });
    every("th[aria-sort]", table.tHead).forEach(function (h) { h.removeAttribute("aria-sort"); });
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    document.getElementById("live").textContent = "sorted by " + head.textContent + (up ? ", ascending" : ", descending");
  }
  document.addEventListener("click", function (event) {
    var head = event.target.closest("thead th");
    if (head && event.target.closest("button")) sort(head.closest("table"), head.cellIndex, head);
  });

  // --- on paper everything is open ---
  var folded = [], hidden = [];
  function drawAll() { return Promise.all(places.map(draw)); }
  window.addEventListener("beforeprint", function () {
    paper = true;
    folded = every("details:not([open])");
    hidden = every("[data-aspect][hidden], [data-use][hidden], .picture[hidden]");
    folded.forEach(function (d) { d.open = true; });
    hidden.forEach(function (p) { p.hidden = false; });
    every(".plot.drawn").forEach(function (p) { window.Plotly.relayout(p, { width: PAPER, "font.color": "#000" }); });
    drawAll();
  });
  window.addEventListener("afterprint", function () {
    paper = false;
    // A figure that is not shown has no size to return to: fold afterwards.
    Promise.all(every(".plot.drawn").map(function (p) {
      return window.Plotly.relayout(p, { width: p.parentElement.clientWidth, "font.color": ink() }).then(function () { delete p.layout.width; p.layout.autosize = true; });
    })).then(function () {
      folded.forEach(function (d) { d.open = false; });
      hidden.forEach(function (p) { p.hidden = true; });
    });
  });
  Object.assign(N, { data: data, drawAll: drawAll, load: load, whenSeen: whenSeen, settings: settings });
})();
