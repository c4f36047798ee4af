// What happens on the page: theme, the chosen aspect, sorting, finding, the table of outputs. Everything can be read without it.
(function () {
  "use strict";
  var root = document.documentElement;
  root.classList.add("js");
  var every = function (selector, inside) { return Array.prototype.slice.call((inside || document).querySelectorAll(selector)); };
  var live = document.getElementById("live");

  // --- light or dark: the reader's system, or the button, which says what it does ---
  var system = window.matchMedia ? window.matchMedia("(prefers-color-scheme: dark)") : { matches: false };
  var theme = document.getElementById("theme");
  function dark() { return root.dataset.theme ? root.dataset.theme === "dark" : system.matches; }
  function named() { theme.textContent = dark() ? "Light theme" : "Dark theme"; }
  if (system.addEventListener) system.addEventListener("change", named);
  theme.addEventListener("click", function () { root.dataset.theme = dark() ? "light" : "dark"; named(); });
  named();

  // --- one aspect for the whole page; the address keeps it ---
  var select = document.querySelector("[data-control=aspect]"), names = select ? every("option", select).map(function (o) { return o.value; }) : [];
  var chosen = null;
  function show(aspect) {
    chosen = names.indexOf(aspect) >= 0 ? aspect : names[0] || null;
    if (!select) return;
    select.value = chosen;
    every("[data-aspect]").forEach(function (block) { block.hidden = names.indexOf(block.dataset.aspect) >= 0 && block.dataset.aspect !== chosen; });
    document.dispatchEvent(new CustomEvent("nlgauge:chosen", { detail: chosen }));
  }
  function choose(aspect) {
    show(aspect);
    var query = chosen === names[0] ? "" : "?aspect=" + encodeURIComponent(chosen);
    try { history.replaceState(null, "", location.pathname + query + location.hash); } catch (error) { /* inside a notebook */ }
  }
  if (select) select.addEventListener("change", function () { choose(select.value); });
  every("[data-choose]").forEach(function (link) {
    link.addEventListener("click", function (event) { event.preventDefault(); choose(link.dataset.choose); });
  });
  show(new URLSearchParams(location.search).get("aspect"));

  // --- more metrics, and finding one ---
  every("button.all[aria-expanded]").forEach(function (button) {
    var words = button.textContent;
    button.addEventListener("click", function () {
      var open = root.classList.toggle("every-metric");
      every("button.all[aria-expanded]").forEach(function (b) { b.setAttribute("aria-expanded", String(open)); b.textContent = open ? "Show fewer" : words; });
    });
  });
  every("[data-control=find]").forEach(function (find) {
    find.addEventListener("input", function () {
      var wanted = find.value.trim().toLowerCase();
      root.classList.toggle("finding", !!wanted);
      every(".marks tbody tr").forEach(function (r) { r.classList.toggle("lost", !!wanted && r.cells[0].textContent.toLowerCase().indexOf(wanted) < 0); });
    });
  });

  // --- a link opens the section that it names ---
  function follow() {
    var found = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (var at = found; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    if (found) found.scrollIntoView();
    return found;
  }
  window.addEventListener("hashchange", follow);
  document.addEventListener("click", function (event) {  // also where the address names it already
    var link = event.target.closest("a[href^='#']");
    if (link && link.hash === location.hash) follow();
  });
  every("details.section").forEach(function (section) {
    section.querySelector("summary").addEventListener("click", function () {
      if (!section.open) try { history.replaceState(null, "", "#" + section.id); } catch (error) { /* inside a notebook */ }
    });
  });
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
  function mark(head, up) {
    every("th[aria-sort]", head.closest("thead")).forEach(function (h) { h.removeAttribute("aria-sort"); });
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    live.textContent = "sorted by " + head.textContent.trim() + (up ? ", ascending" : ", descending");
  }
  function sort(table, column, head) {
    var body = table.tBodies[0], rows = Array.prototype.slice.call(body.rows);
    var key = function (r) { var c = r.cells[column]; return !c ? NaN : Number(c.dataset.v !== undefined ? c.dataset.v : /\d/.test(c.textContent) ? c.textContent.replace(/,/g, "") : NaN); };
    var numbers = rows.some(function (r) { return !isNaN(key(r)); }), now = head.getAttribute("aria-sort");
    var up = now ? now === "descending" : !numbers, sign = up ? 1 : -1;  // numbers begin with the largest
    rows.sort(function (a, b) {
      if (!numbers) return sign * a.cells[column].textContent.localeCompare(b.cells[column].textContent);
      var x = key(a), y = key(b);
      if (isNaN(x) || isNaN(y)) return isNaN(x) - isNaN(y);  // missing stays last
      return sign * (x - y);
    });
    rows.forEach(function (r) { body.appendChild(r); });
    mark(head, up);
  }
  document.addEventListener("click", function (event) {
    var head = event.target.closest("table.grid thead th");
    if (head && event.target.closest("button")) sort(head.closest("table"), head.cellIndex, head);
  });

  // --- on paper everything is open ---
  var folded = [], hidden = [];
  window.addEventListener("beforeprint", function () {
    folded = every("details:not([open])");
    hidden = every("[data-aspect][hidden]");
    folded.forEach(function (d) { d.open = true; });
    hidden.forEach(function (p) { p.hidden = false; });
  });
  window.addEventListener("afterprint", function () {
    folded.forEach(function (d) { d.open = false; });
    hidden.forEach(function (p) { p.hidden = true; });
  });

  // --- the outputs: filter, sort, search, open ---
  var place = document.getElementById("outputs-data");
  if (place) outputs(JSON.parse(place.textContent)); else if (location.hash) follow();
  function outputs(p) {
    var STEP = 50, limit = STEP, table = document.getElementById("outputs-table"), body = table.tBodies[0];
    var by = function (name) { return document.getElementById("outputs-" + name); };
    var heads = every("thead th", table), aspects = Object.keys(p.aspects), aspect = aspects[0], metric = null, order = null, up = false;
    var many = p.row.length, open = {}, gap = [], list = [];
    var text = function (column, k) { return column ? column.texts[column.at[k]] : ""; };
    var reasons = Object.keys(p.texts).filter(function (name) { return name.indexOf("reason") === 0; });
    var words = function (value) { return value === null || value === undefined ? "–" : p.judged ? (value === 1 ? "pass" : value === 0 ? "fail" : String(value)) : String(value); };
    function element(name, words, into, kind) {
      var made = document.createElement(name);
      if (words !== undefined && words !== null) made.textContent = words;
      if (kind) made.className = kind;
      if (into) into.appendChild(made);
      return made;
    }
    function options(into, items) { if (into) { into.textContent = ""; items.forEach(function (item) { element("option", item[1], into).value = item[0]; }); } }
    function ranks(values) {  // average ranks from 0 to 1
      var known = values.map(function (v, k) { return k; }).filter(function (k) { return values[k] !== null; }), out = values.map(function () { return null; });
      known.sort(function (a, b) { return values[a] - values[b]; });
      for (var a = 0, b; a < known.length; a = b) {
        for (b = a; b < known.length && values[known[b]] === values[known[a]]; b++);
        for (var k = a; k < b; k++) out[known[k]] = (a + b - 1) / 2 / Math.max(1, known.length - 1);
      }
      return out;
    }
    function measure() {  // place by the metric minus place by the human ratings
      var score = p.metrics[metric], human = p.aspects[aspect], sign = p.lower.indexOf(metric) >= 0 ? -1 : 1;
      var both = score.map(function (v, k) { return v !== null && human[k] !== null; });
      var pick = function (values, s) { return ranks(values.map(function (v, k) { return both[k] ? s * v : null; })); };
      var x = pick(score, sign), y = pick(human, 1);
      gap = x.map(function (v, k) { return v === null ? null : p.judged ? score[k] - human[k] : v - y[k]; });
    }
    var filters = p.judged ? [["", "all outputs"], ["over", "judge passes, human fails"], ["under", "judge fails, human passes"], ["same", "judge and human agree"], ["none", "without a human label"]] : [["", "all outputs"], ["over", "metric higher than human"], ["under", "metric lower than human"], ["none", "without a human rating"]];
    function fits(k) {
      var wanted = by("show").value, system = by("system"), kind = by("kind"), search = by("search").value.trim().toLowerCase();
      if (wanted === "over" && !(gap[k] > 0) || wanted === "under" && !(gap[k] < 0) || wanted === "same" && gap[k] !== 0 || wanted === "none" && p.aspects[aspect][k] !== null) return false;
      if (system && system.value && text(p.system, k) !== system.value) return false;
      if (kind && kind.value && p.kinds[kind.value][1].indexOf(k) < 0) return false;
      if (!search) return true;
      return Object.keys(p.texts).some(function (name) { return text(p.texts[name], k).toLowerCase().indexOf(search) >= 0; }) || text(p.input, k).toLowerCase().indexOf(search) >= 0 || text(p.system, k).toLowerCase().indexOf(search) >= 0;
    }
    function value(key, k) {
      if (key === "row") return p.row[k];
      if (key === "human") return p.aspects[aspect][k];
      if (key === "metric") return p.metrics[metric][k];
      if (key === "system") return text(p.system, k);
      if (key === "reason") return reasons.map(function (name) { return text(p.texts[name], k); }).join(" ");
      return key === "source" ? text(p.texts.source, k) || text(p.input, k) : text(p.texts[key], k);
    }
    function arrange() {
      list = [];
      for (var k = 0; k < many; k++) if (fits(k)) list.push(k);
      var sign = up ? 1 : -1;
      list.sort(function (a, b) {
        var x = order ? value(order, a) : gap[a] === null ? -1 : Math.abs(gap[a]), y = order ? value(order, b) : gap[b] === null ? -1 : Math.abs(gap[b]);
        if (x === null || y === null) return (x === null) - (y === null) || a - b;
        if (!order) return y - x || (p.judged ? gap[b] - gap[a] : 0) || a - b;  // missed failures before false alarms
        return sign * (typeof x === "number" ? x - y : String(x).localeCompare(String(y))) || a - b;
      });
    }
    function marked(shown, codes, into) {  // one letter per word: see text/output_kinds.py
      var end = 0, k = 0, word = /[\p{L}\p{N}]+(?:['’][\p{L}\p{N}]+)*/gu;
      for (var found = word.exec(shown); found; found = word.exec(shown), k++) {
        var title = { n: "unsupported: neither in the source nor in a reference", r: "in a reference only" }[codes[k]];
        if (!title || (codes[k] === "r" && !p.texts.source)) continue;
        into.appendChild(document.createTextNode(shown.slice(end, found.index)));
        element("span", found[0], into, codes[k] === "n" ? "w0" : "w1").title = title;
        end = found.index + found[0].length;
      }
      into.appendChild(document.createTextNode(shown.slice(end)));
    }
    function detail(k) {
      var row = element("tr", null, null, "detail"), cell = element("td", null, row);
      cell.colSpan = heads.length;
      var kinds = Object.keys(p.kinds).filter(function (kind) { return p.kinds[kind][1].indexOf(k) >= 0; });
      var head = element("p", null, cell, "soft");
      head.appendChild(document.createTextNode((p.systems > 1 ? text(p.system, k) + ", " : "") + text(p.input, k) + ". " + aspects.filter(function (a) { return p.aspects[a][k] !== null; }).map(function (a) { return a + ": " + words(p.aspects[a][k]); }).join(", ") + ". " + metric + ": " + words(p.metrics[metric][k]) + ". "));
      kinds.forEach(function (kind) { element("span", kind, head, "kind").title = p.kinds[kind][0]; });
      var texts = element("div", null, cell, "texts");
      Object.keys(p.texts).forEach(function (name) {
        var shown = text(p.texts[name], k);
        if (!shown) return;
        var part = element("div", null, texts, "text " + name.split(" ")[0]);
        element("p", name, part, "soft");
        var where = element("p", null, part);
        where.dir = "auto";
        where.tabIndex = 0;
        if (name === "output" && p.words && p.words.length) marked(shown, p.words[k], where); else where.textContent = shown;
      });
      return row;
    }
    var cut = function (shown) { return shown.length > 220 ? shown.slice(0, 220) + " …" : shown; };
    function line(k) {
      var row = element("tr");
      row.id = "output-" + p.row[k];
      heads.forEach(function (head) {
        var key = head.dataset.key, found = value(key, k);
        if (key === "row") {
          var link = element("a", found, element("th", null, row));
          link.href = "#output-" + found;
          link.parentNode.scope = "row";
        } else if (key === "human" || key === "metric") element("td", words(found), row, p.judged ? words(found) : "");
        else {
          var cell = element("td", null, row, key === "system" ? "" : "words"), shown = cut(String(found));
          cell.dir = "auto";
          if (key === "output" && p.words && p.words.length) marked(shown, p.words[k], cell); else cell.textContent = shown;
        }
      });
      row.addEventListener("click", function (event) { if (!event.target.closest("a")) toggle(k, row); });
      return row;
    }
    function toggle(k, row) {
      open[k] = !open[k];
      if (open[k]) row.after(detail(k)); else row.nextElementSibling.remove();
      row.classList.toggle("opened", !!open[k]);
    }
    function draw() {
      body.textContent = "";
      list.slice(0, limit).forEach(function (k) {
        body.appendChild(line(k));
        if (open[k]) { body.lastChild.classList.add("opened"); body.appendChild(detail(k)); }
      });
      by("more").hidden = list.length <= limit;
      var rated = list.filter(function (k) { return gap[k] !== null; }).length, apart = list.filter(function (k) { return p.judged && gap[k]; }).length;
      by("count").textContent = list.length.toLocaleString("en") + " of " + many.toLocaleString("en") + " outputs" + (p.judged ? ", " + rated.toLocaleString("en") + " with a human label; judge and human disagree on " + apart.toLocaleString("en") : ", " + rated.toLocaleString("en") + " with rating and score") + ". Select a row to read it in full.";
    }
    function redraw() { limit = STEP; measure(); arrange(); draw(); }
    function fromAddress() {
      var found = /^#output-(\d+)$/.exec(location.hash);
      if (!found) return false;
      var k = p.row.indexOf(Number(found[1]));
      if (k < 0) return false;
      by("search").value = ""; by("show").value = "";
      ["system", "kind"].forEach(function (name) { if (by(name)) by(name).value = ""; });
      open[k] = true;
      measure(); arrange();
      limit = Math.max(limit, list.indexOf(k) + 1);
      draw();
      follow();
      return true;
    }
    function best() { metric = p.best[aspect] in p.metrics ? p.best[aspect] : Object.keys(p.metrics)[0]; by("metric").value = metric; }
    options(by("metric"), Object.keys(p.metrics).map(function (m) { return [m, m]; }));
    options(by("show"), filters);
    options(by("system"), [["", "all"]].concat(p.system.texts.map(function (s) { return [s, s]; })));
    options(by("kind"), [["", "all"]].concat(Object.keys(p.kinds).map(function (kind) { return [kind, kind + " (" + p.kinds[kind][1].length + ")"]; })));
    by("metric").addEventListener("change", function () { metric = by("metric").value; redraw(); });
    ["show", "system", "kind"].forEach(function (name) { if (by(name)) by(name).addEventListener("change", redraw); });
    by("search").addEventListener("input", redraw);
    by("controls").addEventListener("submit", function (event) { event.preventDefault(); });
    by("more").addEventListener("click", function () { limit += STEP; draw(); });
    heads.forEach(function (head) {
      head.querySelector("button").addEventListener("click", function () {
        up = order === head.dataset.key ? !up : typeof value(head.dataset.key, 0) === "string";
        order = head.dataset.key;
        mark(head, up);
        redraw();
      });
    });
    function follows(wanted) { aspect = aspects.filter(function (a) { return wanted && (wanted === a || wanted.endsWith(", " + a)); })[0] || aspects[0]; best(); redraw(); }
    document.addEventListener("nlgauge:chosen", function (event) { follows(event.detail); });
    window.addEventListener("hashchange", fromAddress);
    follows(chosen);
    if (!fromAddress() && location.hash) follow();
  }
})();
