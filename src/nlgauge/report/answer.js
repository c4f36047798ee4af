// The first screen: the chosen aspect and use, and the forest, drawn before anything else of the page is read.
(function () {
  "use strict";
  var root = document.documentElement, N = window.nlgauge = { chosen: { aspect: null, use: "" } };
  root.classList.add("js");
  var every = N.every = function (selector, inside) { return Array.prototype.slice.call((inside || document).querySelectorAll(selector)); };

  // --- light or dark: the reader's system, or the button ---
  var system = window.matchMedia ? window.matchMedia("(prefers-color-scheme: dark)") : { matches: false };
  N.dark = { get matches() { return root.dataset.theme ? root.dataset.theme === "dark" : system.matches; } };
  N.ink = function () { return N.dark.matches ? "#e8eaee" : "#1b2230"; };
  function repaint() { document.dispatchEvent(new CustomEvent("nlgauge:theme")); }
  if (system.addEventListener) system.addEventListener("change", repaint);
  var theme = document.getElementById("theme");
  if (theme) theme.addEventListener("click", function () {
    root.dataset.theme = N.dark.matches ? "light" : "dark";
    repaint();
  });

  var place = document.getElementById("answer-data");
  if (!place) return;
  var answer = JSON.parse(place.textContent);

  // --- the forest ---
  function element(name, facts, into, text) {
    var made = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.keys(facts).forEach(function (key) { made.setAttribute(key, facts[key]); });
    if (text !== undefined) made.textContent = text;
    into.appendChild(made);
    return made;
  }
  var narrow = window.matchMedia ? window.matchMedia("screen and (max-width: 760px)") : { matches: false }, HIGH = 32;  // of a row
  if (narrow.addEventListener) narrow.addEventListener("change", function () { show(); });
  function forest(picture, use) {
    var found = answer.aspects[Number(picture.dataset.at)];
    HIGH = narrow.matches ? 20 : 32;
    var of = function (m) { return use ? m.marks[use] || { value: null, low: null } : m; };
    var sure = found.metrics.filter(function (m) { return of(m).low !== null; });
    var least = Math.min.apply(null, sure.map(function (m) { return of(m).low; }).concat(0.4));
    var from = Math.floor(least * 5) / 5, x = function (v) { return 100 * (v - from) / (1 - from) + "%"; };
    var ranked = found.metrics.some(function (m) { return m.may_be_best; });  // else nobody is said to be behind
    function back(svg, height) {
      element("line", { x1: x(found.chance), x2: x(found.chance), y1: 0, y2: height, "class": "nothing" }, svg);
      element("line", { x1: x(answer.limits.reliable), x2: x(answer.limits.reliable), y1: 0, y2: height, "class": "limit" }, svg);
    }
    var axis = picture.querySelector(".axis");
    axis.textContent = "";
    picture.classList.toggle("bare", !sure.length);
    if (!sure.length) return;
    var title = document.createElement("span");
    title.className = "title";
    title.textContent = (use ? use : found.measure.replace(/^.*\//, "").replace(/[-_]/g, " ")) + ", 95% CI";
    axis.appendChild(title);
    var scale = element("svg", { "class": "scale", width: "100%", height: 16, "aria-hidden": "true" }, axis);
    var say = function (v, text, anchor) { element("text", { x: x(v), y: 12, "text-anchor": anchor }, scale, text); };
    say(0.5, "0.5", "middle"); say(answer.limits.reliable, "0.75", "middle"); say(1, "1", "end");
    found.metrics.forEach(function (m, at) {
      var row = picture.querySelector("[data-row='" + at + "']"), cell = row.querySelector(".forest"), mine = of(m);
      cell.textContent = "";
      var words = m.metric + ": " + (mine.value === null ? "no value" : mine.low === null ? "no interval" : mine.value.toFixed(2) + " [" + mine.low.toFixed(2) + ", " + mine.high.toFixed(2) + "]");
      var svg = element("svg", { width: "100%", height: HIGH, role: "img", "aria-label": words }, cell);
      element("title", {}, svg, words);
      back(svg, HIGH);
      if (mine.low === null) return;
      var kind = use ? (mine.badge || "none").replace(" ", "-") : m.may_be_best || !ranked ? "leads" : "";
      element("line", { x1: x(mine.low), x2: x(mine.high), y1: HIGH / 2, y2: HIGH / 2, "class": "whisker " + kind }, svg);
      element("circle", { cx: x(mine.value), cy: HIGH / 2, r: 4.5, "class": "dot " + kind }, svg);
    });
    var order = found.metrics.map(function (m, at) { return at; });
    if (use) order.sort(function (a, b) { return (of(found.metrics[b]).value === null ? -9 : of(found.metrics[b]).value) - (of(found.metrics[a]).value === null ? -9 : of(found.metrics[a]).value); });
    var body = picture.querySelector("tbody");
    order.forEach(function (at) { body.appendChild(picture.querySelector("[data-row='" + at + "']")); });
  }

  // --- one aspect and one use for the whole page; the address keeps them ---
  var control = function (name) { return document.querySelector("[data-control=" + name + "]"); };
  var names = answer.aspects.map(function (a) { return a.about; }), uses = [];
  answer.aspects.forEach(function (a) { a.uses.forEach(function (u) { if (uses.indexOf(u) < 0) uses.push(u); }); });
  function show() {
    var chosen = N.chosen;
    every("[data-aspect]").forEach(function (block) { block.hidden = names.indexOf(block.dataset.aspect) >= 0 && block.dataset.aspect !== chosen.aspect; });
    every("[data-use]").forEach(function (block) { block.hidden = !!chosen.use && block.dataset.use !== chosen.use; });
    every("[data-sentence]").forEach(function (text) { text.hidden = text.dataset.sentence !== chosen.use; });
    every("[data-column]").forEach(function (head) { head.classList.toggle("chosen", head.dataset.column === chosen.use); });
    every(".picture").forEach(function (picture) { if (!picture.hidden) forest(picture, chosen.use && answer.aspects[Number(picture.dataset.at)].uses.indexOf(chosen.use) >= 0 ? chosen.use : ""); });
  }
  N.choose = function (aspect, use) {
    N.chosen.aspect = names.indexOf(aspect) >= 0 ? aspect : names[0];
    N.chosen.use = uses.indexOf(use) >= 0 ? use : "";
    if (control("aspect")) control("aspect").value = N.chosen.aspect;
    if (control("use")) control("use").value = N.chosen.use;
    show();
    document.dispatchEvent(new CustomEvent("nlgauge:chosen", { detail: N.chosen }));
  };
  N.show = show;
  function changed() {
    N.choose(control("aspect") ? control("aspect").value : names[0], control("use") ? control("use").value : "");
    var asked = new URLSearchParams();
    if (N.chosen.aspect !== names[0]) asked.set("aspect", N.chosen.aspect);
    if (N.chosen.use) asked.set("use", N.chosen.use);
    var text = asked.toString();
    try { history.replaceState(null, "", location.pathname + (text ? "?" + text : "") + location.hash); } catch (error) { /* an old browser, from a file */ }
  }
  ["aspect", "use"].forEach(function (name) { if (control(name)) control(name).addEventListener("change", changed); });
  var asked = new URLSearchParams(location.search);
  N.choose(asked.get("aspect"), asked.get("use"));

  // --- more metrics, and finding one ---
  every("button.all").forEach(function (button) {
    button.addEventListener("click", function () {
      var open = root.classList.toggle("every-metric");
      every("button.all").forEach(function (b) { b.setAttribute("aria-expanded", String(open)); b.textContent = (open ? "Show the first of the " : "Show all ") + b.textContent.match(/\d+/)[0] + " metrics"; });
    });
  });
  var find = control("find");
  if (find) find.addEventListener("input", function () {
    var wanted = find.value.trim().toLowerCase();
    root.classList.toggle("finding", !!wanted);
    every("table").forEach(function (table) {
      var rows = every("tbody tr", table), hits = rows.filter(function (r) { return r.cells[0].textContent.toLowerCase().indexOf(wanted) >= 0; });
      var metrics = table.classList.contains("marks") || /^metric/i.test(table.tHead ? table.tHead.rows[0].cells[0].textContent.trim() : "");
      rows.forEach(function (r) { r.classList.toggle("lost", metrics && !!wanted && hits.indexOf(r) < 0); });
    });
  });
})();
