// What happens inside the sections; page.js has set window.nlgauge.
(function () {
  "use strict";
  var N = window.nlgauge, dark = N.dark, ink = N.ink, load = N.load, whenSeen = N.whenSeen, settings = N.settings;
  var every = function (selector, inside) { return Array.prototype.slice.call((inside || document).querySelectorAll(selector)); };
  var read = function (id) { return JSON.parse(document.getElementById(id).textContent); };

  // --- every output as a point: choose some, read their texts ---
  if (document.getElementById("points")) brush();
  function brush() {
    var p = null;  // read when the picture comes into view
    var place = document.getElementById("brush-plot"), list = document.getElementById("brush-list"), count = document.getElementById("brush-count");
    var metric = document.getElementById("brush-metric"), aspect = document.getElementById("brush-aspect");
    var MOST = 30, shown = [];
    function values() { return { x: p.metrics[metric.value], y: p.aspects[aspect.value] }; }
    function element(name, text, into) {
      var made = document.createElement(name);
      made.textContent = text;
      into.appendChild(made);
      return made;
    }
    function tell(chosen) {
      list.textContent = "";
      count.textContent = chosen.length ? chosen.length + (chosen.length === 1 ? " output" : " outputs") + " chosen" + (chosen.length > MOST ? "; the first " + MOST + " are shown" : "") + "."
        : "Drag over points to read their outputs here, or choose a corner above.";
      var v = values();
      chosen.slice(0, MOST).forEach(function (at) {
        var item = document.createElement("li");
        element("b", p.systems[p.s[at]] + ", " + p.inputs[p.i[at]], item);
        var facts = element("p", metric.value + " " + v.x[at] + ", " + aspect.value + " " + v.y[at], item);
        facts.className = "soft";
        var texts = element("div", "", item);
        texts.className = "texts";
        Object.keys(p.texts).forEach(function (name) {
          var text = p.texts[name].texts[p.texts[name].at[at]];
          if (!text) return;
          var box = element("div", "", texts);
          box.className = "text";
          var title = element("p", name, box);
          title.className = "soft";
          element("p", text, box).dir = "auto";
        });
        list.appendChild(item);
      });
    }
    function plot(Plotly) {
      var v = values(), line = "rgba(128,136,150,.25)";
      shown = v.x.map(function (_, at) { return at; }).filter(function (at) { return v.x[at] !== null && v.y[at] !== null; });
      var escape = function (t) { return String(t).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;"); };
      var trace = {
        type: "scatter", mode: "markers", x: shown.map(function (at) { return v.x[at]; }), y: shown.map(function (at) { return v.y[at]; }),
        text: shown.map(function (at) { return escape(p.systems[p.s[at]] + ", " + p.inputs[p.i[at]]); }),
        hovertemplate: "%{text}<br>%{x}, %{y}<extra></extra>", marker: { color: dark.matches ? "#6cb2eb" : "#2878b5", size: 8, opacity: .55 },
        selected: { marker: { color: "#d55e00", opacity: .9 } }, unselected: { marker: { opacity: .25 } }
      };
      var less = p.lower.indexOf(metric.value) >= 0 ? " (less is better)" : "";
      var axis = function (title) { return { title: { text: escape(title) }, gridcolor: line, zeroline: false, automargin: true }; };
      return Plotly.react(place, [trace], {
        height: 420, margin: { l: 10, r: 20, t: 10, b: 50 }, dragmode: "select", hovermode: "closest", paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
        font: { family: "system-ui, sans-serif", size: 13, color: ink() }, xaxis: axis(metric.value + less), yaxis: axis("people: " + aspect.value)
      }, settings);
    }
    function ranks(values) {
      var order = shown.slice().sort(function (a, b) { return values[a] - values[b]; }), rank = {};
      order.forEach(function (at, k) { rank[at] = k > 0 && values[at] === values[order[k - 1]] ? rank[order[k - 1]] : k; });
      return rank;
    }
    function corner(sign) {
      var v = values(), x = ranks(v.x), y = ranks(v.y), turn = p.lower.indexOf(metric.value) >= 0 ? -1 : 1;
      var chosen = shown.slice().sort(function (a, b) { return sign * ((turn * x[b] - y[b]) - (turn * x[a] - y[a])); }).slice(0, 10);
      window.Plotly.restyle(place, { selectedpoints: [chosen.map(function (at) { return shown.indexOf(at); })] });
      tell(chosen);
    }
    whenSeen(place, function () {
      p = read("points");
      load().then(function (Plotly) {
        return plot(Plotly).then(function () {
          place.on("plotly_selected", function (event) { if (event) tell(event.points.map(function (q) { return shown[q.pointIndex]; })); });
          place.on("plotly_click", function (event) { tell(event.points.map(function (q) { return shown[q.pointIndex]; })); });
          place.on("plotly_deselect", function () { tell([]); });
          [metric, aspect].forEach(function (s) { s.addEventListener("change", function () { tell([]); plot(Plotly); }); });
          every("[data-corner]").forEach(function (b) { b.addEventListener("click", function () { corner(Number(b.dataset.corner)); }); });
        });
      }).catch(function (error) { if (error.message !== "old browser") throw error; });
    });
  }
})();
