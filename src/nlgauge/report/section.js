// What happens inside the sections; page.js has set window.nlgauge.
(function () {
  "use strict";
  var N = window.nlgauge;
  var every = function (selector, inside) { return Array.prototype.slice.call((inside || document).querySelectorAll(selector)); };
  var old = function (error) { if (error.message !== "old browser") throw error; };

  // --- a link to a section opens it; an opened section is what the address names ---
  function follow() {
    var found = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (var at = found; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    if (found) found.scrollIntoView();
  }
  window.addEventListener("hashchange", follow);
  document.addEventListener("click", function (event) {  // also where the address names it already
    var link = event.target.closest("a[href^='#']");
    if (link && link.hash === location.hash) follow();
  });
  every("details.section").forEach(function (section) {
    section.querySelector("summary").addEventListener("click", function () {
      if (!section.open) history.replaceState(null, "", "#" + section.id);
    });
  });
  if (location.hash) follow();

  // --- folded tables are packed: unpack when opened ---
  function fill(inside) {
    return N.data().then(function (data) {
      every("[data-packed]", inside).forEach(function (place) {
        place.innerHTML = data.tables[place.dataset.packed];
        place.removeAttribute("data-packed");
      });
    }).catch(old);
  }
  every("details.fold").forEach(function (fold) { fold.addEventListener("toggle", function () { if (fold.open) fill(fold); }); });
  window.addEventListener("beforeprint", function () { fill(document); });

  // --- outputs to read ---
  if (document.getElementById("outputs-plot")) outputs();
  function outputs() {
    var MOST = 30, p = null, aspect = null, shown = [];
    var place = document.getElementById("outputs-plot"), list = document.getElementById("outputs-list"), count = document.getElementById("outputs-count"), metric = document.getElementById("outputs-metric");
    function element(name, text, into, kind) {
      var made = document.createElement(name);
      made.textContent = text;
      if (kind) made.className = kind;
      if (into) into.appendChild(made);
      return made;
    }
    function follows(chosen) {
      var names = Object.keys(p.aspects), wanted = chosen && chosen.aspect;
      aspect = names.filter(function (a) { return wanted && (wanted === a || wanted.endsWith(", " + a)); })[0] || aspect || names[0];
    }
    function kinds(at) { return Object.keys(p.kinds).filter(function (kind) { return p.kinds[kind][2].indexOf(at) >= 0; }); }
    function marked(text, codes, into) {  // one letter a word: see text/output_kinds.py
      var end = 0, k = 0;
      var word = /[\p{L}\p{N}]+(?:['’][\p{L}\p{N}]+)*/gu;
      for (var found = word.exec(text); found; found = word.exec(text), k++) {
        var code = codes[k], title = { n: "neither in the source nor in a reference", r: "in a reference only" }[code];
        if (!title || (code === "r" && !p.texts.source)) continue;
        into.appendChild(document.createTextNode(text.slice(end, found.index)));
        element("span", found[0], into, code === "n" ? "w0" : "w1").title = title;
        end = found.index + found[0].length;
      }
      into.appendChild(document.createTextNode(text.slice(end)));
    }
    function card(at, open) {
      var box = element("details", "", null, "reading"), head = element("summary", "", box);
      box.open = open;
      element("b", p.systems[p.s[at]] + ", " + p.inputs[p.i[at]], head);
      var one = p.metrics[metric.value];
      element("span", (one ? metric.value + " " + one[at] + ", " : "") + "people " + p.aspects[aspect][at], head, "soft");
      kinds(at).forEach(function (kind) { element("span", kind, head, "kind").title = p.kinds[kind][0]; });
      var texts = element("div", "", box, "texts");
      Object.keys(p.texts).forEach(function (name) {
        var text = p.texts[name].texts[p.texts[name].at[at]];
        if (!text) return;
        var part = element("div", "", texts, "text " + name.split(" ")[0]);
        element("p", name, part, "soft");
        var body = element("p", "", part);
        body.dir = "auto";
        body.tabIndex = 0;
        if (name === "output" && p.words && p.words.length) marked(text, p.words[at], body);
        else body.textContent = text;
      });
      element("p", "People: " + Object.keys(p.aspects).filter(function (a) { return p.aspects[a][at] !== null; }).map(function (a) { return a + " " + p.aspects[a][at]; }).join(", "), box, "soft");
      return box;
    }
    function tell(groups) {
      list.textContent = "";
      var all = [].concat.apply([], groups.map(function (g) { return g[1]; }));
      groups.forEach(function (group) {
        if (!group[1].length) return;
        element("h3", group[0], list);
        group[1].slice(0, MOST).forEach(function (at, k) { list.appendChild(card(at, k === 0)); });
      });
      var among = Object.keys(p.kinds).map(function (kind) {
        var mine = all.filter(function (at) { return p.kinds[kind][2].indexOf(at) >= 0; }).length;
        return mine && kind + " " + mine + " (of all outputs " + Math.round(100 * p.kinds[kind][1] / p.of) + "%)";
      }).filter(Boolean);
      count.textContent = all.length + (all.length === 1 ? " output" : " outputs") + (all.length > MOST ? ", the first " + MOST + " of which are shown" : "") + (among.length ? ". Kinds: " + among.join(", ") : "") + ".";
    }
    function first() {
      var found = (p.chosen[metric.value] || {})[aspect] || [[], []], who = metric.value;
      tell([[who + " puts these higher than people do", found[0]], [who + " puts these lower than people do", found[1]]]);
      return found[0].concat(found[1]);
    }
    function plot(Plotly) {
      var chosen = first(), y = p.aspects[aspect], name = metric.value, x = p.metrics[name];
      shown = x.map(function (_, at) { return at; }).filter(function (at) { return x[at] !== null && y[at] !== null; });
      var escape = function (t) { return String(t).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;"); };
      var pick = function (of) { return shown.map(function (at) { return of[at]; }); };
      var trace = {
        type: "scatter", mode: "markers", x: pick(x), y: pick(y), text: shown.map(function (at) { return escape(p.systems[p.s[at]] + ", " + p.inputs[p.i[at]]); }),
        hovertemplate: "%{text}<br>%{x}, %{y}<extra></extra>", marker: { color: N.dark.matches ? "#6cb2eb" : "#2878b5", size: 8, opacity: .5 },
        selectedpoints: chosen.map(function (at) { return shown.indexOf(at); }).filter(function (k) { return k >= 0; }),
        selected: { marker: { color: "#d55e00", opacity: .95, size: 10 } }, unselected: { marker: { opacity: .25 } }
      };
      var axis = function (title) { return { title: { text: escape(title) }, gridcolor: "rgba(128,136,150,.25)", zeroline: false, automargin: true }; };
      return Plotly.react(place, [trace], {
        height: 360, margin: { l: 10, r: 10, t: 10, b: 45 }, dragmode: "select", hovermode: "closest", paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
        font: { family: "system-ui, sans-serif", size: 13, color: N.ink() }, xaxis: axis(name + (p.lower.indexOf(name) >= 0 ? " (less is better)" : name === "mean of all metrics" ? " (place, 1 is best)" : "")), yaxis: axis("people: " + aspect)
      }, N.settings);
    }
    N.whenSeen(place, function () {
      Promise.all([N.load(), N.data()]).then(function (ready) {
        var Plotly = ready[0];
        p = ready[1].outputs;
        Object.keys(p.chosen).concat(Object.keys(p.metrics).filter(function (m) { return !p.chosen[m]; })).forEach(function (m) { element("option", m, metric); });
        follows(N.chosen);
        return plot(Plotly).then(function () {
          var taken = function (event) { if (event) tell([["Chosen in the picture", event.points.map(function (q) { return shown[q.pointIndex]; })]]); };
          place.on("plotly_selected", taken);
          place.on("plotly_click", taken);
          place.on("plotly_deselect", first);
          metric.addEventListener("change", function () { plot(Plotly); });
          document.addEventListener("nlgauge:chosen", function (event) { follows(event.detail); plot(Plotly); });
        });
      }).catch(old);
    });
  }
})();
