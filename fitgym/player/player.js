"use strict";
(() => {
  const $ = id => document.getElementById(id);
  let film = JSON.parse($("film").textContent);
  const live = film.live, own = film;
  let at = 0, timer = 0, busy = false;
  let lines = new Map(), marks = new Map();

  // ------------------------------------------------------------------ small things
  const SVG = "http://www.w3.org/2000/svg";
  const shape = (name, attributes) => {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return node;
  };
  const make = (name, text = "", kind = "") => {
    const node = document.createElement(name);
    node.textContent = text;
    if (kind) node.className = kind;
    return node;
  };
  const short = value => Number.isInteger(value) ? String(value) : Number(value.toPrecision(4)).toString();
  const counted = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;
  const title = name => name[0].toUpperCase() + name.slice(1).replaceAll("_", " ");
  const last = () => film.steps.length - 1;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;

  // ------------------------------------------------------------------ what does not change with the step
  function load(shown) {
    film = shown;
    $("title").textContent = film.title;
    $("setting").textContent = film.setting;
    $("goal-name").textContent = film.goal ? `Goal: ${film.goal.replaceAll("_", " ")}` : "Value";
    $("reward-name").textContent = film.reward ? `Reward (${film.reward})` : "Reward";
    $("curve-name").textContent = `${film.goal ? title(film.goal) : "Value"} over time`;
    const counts = film.steps.flatMap(step => Object.values(step.covered));
    $("shares").hidden = !counts.some(([, all]) => all !== null); $("grew").hidden = !counts.some(([, all]) => all === null);
    $("source").hidden = $("lines").hidden = !film.listing;
    $("figures").style.setProperty("grid-template-columns", film.listing ? "" : "repeat(3, minmax(0, 1fr))");
    document.querySelector("main").classList.toggle("bare", !film.listing);
    $("found").hidden = !film.listing;
    if (film.listing) source();
  }

  function source() {
    const {first, lines: texts, code} = film.listing, counts = new Set(code);
    lines = new Map(); marks = new Map();
    const rows = texts.map((text, index) => {
      const number = first + index, row = make("div"), shown = make("code"), note = make("em");
      shown.innerHTML = text || " ";  // escaped where it was made
      note.hidden = true;
      row.append(make("s", number), make("b"), shown, note);
      if (counts.has(number)) lines.set(number, {row, note});
      return row;
    });
    $("code").replaceChildren(...rows);
    $("map").setAttribute("viewBox", `0 0 10 ${Math.max(texts.length, 60)}`);
    $("map").replaceChildren(...code.map(number => {
      const text = texts[number - first].replace(/<[^>]*>/g, ""), indent = text.length - text.trimStart().length;
      const mark = shape("rect", {x: Math.min(8, indent / 8), y: number - first, width: Math.max(1, Math.min(10, text.length / 8) - indent / 8), height: 1});
      marks.set(number, mark);
      return mark;
    }), shape("rect", {class: "window", x: 0, y: 0, width: 10, height: 1}));
    frame();
  }

  /** The part of the source that is visible, on the map. */
  function frame() {
    const pane = $("code"), box = $("map").querySelector(".window");
    if (!box || !film.listing) return;
    const n = film.listing.lines.length, high = pane.scrollHeight || 1;
    box.setAttribute("y", n * pane.scrollTop / high);
    box.setAttribute("height", Math.max(1, n * pane.clientHeight / high));
  }

  function scrollTo(number, smooth) {
    const entry = lines.get(number), pane = $("code");
    if (!entry) return;
    const top = entry.row.offsetTop - pane.clientHeight / 3;
    pane.scrollTo({top, behavior: smooth && !still ? "smooth" : "auto"});
  }

  // ------------------------------------------------------------------ a step
  function show(number) {
    at = Math.max(0, Math.min(number, last()));
    const step = film.steps[at], before = film.steps[at - 1];
    const gain = before ? step.value - before.value : 0;
    $("value").textContent = short(step.value);
    $("gain").textContent = gain ? `${gain > 0 ? "+" : ""}${short(gain)} in this step` : before ? "no change in this step" : "before the first choice";
    $("reward").textContent = before ? short(step.reward) : "–";
    const sum = film.steps.slice(1, at + 1).reduce((total, one) => total + one.reward, 0);
    $("return").textContent = before ? `${short(sum)} in all steps` : "no step yet";
    $("spent").textContent = step.spent ? `${Math.round(100 * step.spent)} %` : "no limit";
    $("clock").textContent = step.clock;
    $("told").textContent = step.told;
    $("seek").max = last(); $("seek").value = at;
    $("seek").setAttribute("aria-valuetext", `step ${at} of ${last()}`);
    $("first").disabled = $("back").disabled = at === 0;
    $("next").disabled = $("last").disabled = at === last();
    if (film.listing) colour();
    finds(step);
    rows();
    curves();
  }

  function colour() {
    const since = new Map(film.since), raised = new Map(), fresh = [];
    film.steps.slice(0, at + 1).forEach(step => step.finds.forEach(find => find.line && raised.set(find.line, find.raised)));
    let n = 0;
    for (const [number, {row, note}] of lines) {
      const when = since.get(number), covered = when !== undefined && when <= at, isNew = covered && when === at && at > 0;
      n += covered;
      if (isNew) fresh.push(number);
      const kind = isNew ? "new" : covered ? "covered" : "missed";
      row.className = raised.has(number) ? `${kind} raised` : kind;
      note.hidden = !raised.has(number);
      note.textContent = (raised.get(number) || "").split(" in ")[0];
      marks.get(number).setAttribute("class", raised.has(number) ? "raised" : kind);
    }
    $("covered").textContent = `${n} of ${lines.size}`;
    $("fresh").textContent = at ? fresh.length ? `${counted(fresh.length, "line")} for the first time` : "no new line" : "by the first population";
    const pane = $("code");
    const visible = number => { const {row} = lines.get(number); return row.offsetTop >= pane.scrollTop && row.offsetTop < pane.scrollTop + pane.clientHeight - 20; };
    const thrown = at ? film.steps[at].finds.map(find => find.line).filter(number => lines.has(number)) : [];
    const wanted = thrown.length ? thrown : fresh;
    if ($("follow").checked && wanted.length && !wanted.some(visible)) scrollTo(largest(wanted), !document.hidden);
    frame();
  }

  /** The first line of the largest group of neighbours. */
  function largest(numbers) {
    let best = [0, numbers[0]], start = 0;
    numbers.forEach((number, index) => {
      if (index && number - numbers[index - 1] > 6) start = index;
      if (index - start + 1 > best[0]) best = [index - start + 1, numbers[start]];
    });
    return best[1];
  }

  /** The tests of this step; where it found none, the last one that was found. */
  function finds(step) {
    let shown = step.finds, heading = `${counted(shown.length, "test")} found ${at ? "in this step" : "by the first population"}`;
    if (!shown.length) {
      const before = film.steps.slice(0, at).findLastIndex(one => one.finds.length);
      shown = before < 0 ? [] : film.steps[before].finds.slice(0, 1);
      heading = before < 0 ? "No test yet" : `No new test in this step. The last one, of ${before ? `step ${before}` : "the first population"}:`;
    }
    $("found-name").textContent = heading;
    $("finds").replaceChildren(...shown.map(find => {
      const box = make("div"), code = make("pre"), note = make("p", "", "soft");
      code.innerHTML = find.code;  // escaped where it was made
      code.tabIndex = 0;
      if (find.raised) note.append(make("span", `⚡ raises ${find.raised}`, "badge"));
      if (find.lines.length) note.append(`runs ${counted(find.lines.length, "new line")}, `);
      const where = find.line || find.lines[0];
      if (where && lines.has(where)) {
        const jump = make("button", `line ${where}`);
        jump.type = "button";
        jump.onclick = () => scrollTo(where, true);
        note.append(jump);
      }
      box.append(code, note);
      return box;
    }));
    $("finds").scrollTop = 0;
    $("finds").querySelectorAll("pre").forEach((code, index) => { if (shown[index].raised) code.scrollTop = code.scrollHeight; });  // the last statement raises
  }

  /** Where each step begins and ends, in [0, 1]: by the budget, or by number where none is counted. */
  function spans() {
    const n = film.steps.length, spent = film.steps[n - 1].spent > 0;
    let from = 0;
    return film.steps.map((step, index) => {
      const until = spent ? Math.min(1, step.spent) : (index + 1) / n, span = [from, Math.max(until, from + .002)];
      from = until;
      return span;
    });
  }
  const seekIn = node => event => {
    const box = node.getBoundingClientRect(), x = (event.clientX - box.left) / box.width;
    const found = spans().findIndex(([, end]) => x <= end);
    pause(); show(found < 0 ? last() : found);
  };

  function rows() {
    const now = film.steps[at], where = spans();
    $("rows").replaceChildren(...film.rows.map(name => {
      const row = make("div"), drawing = shape("svg", {viewBox: "0 0 1000 20", preserveAspectRatio: "none", role: "img"});
      const [covered, known] = now.covered[name] || [0, 0], option = film.options.includes(name);
      const picked = film.steps.slice(1, at + 1).filter(step => name in step.active).length;
      const figures = name in now.covered ? known === null ? `${covered} found` : `${covered} of ${known}` : "";
      const times = option ? `${figures ? ", " : ""}chosen ${picked}×` : "";
      film.steps.forEach((step, index) => {
        const [x, end] = where[index], later = index > at ? " later" : "", width = 1000 * (end - x), floor = option ? 13 : 20;
        const [n, all] = step.covered[name] || [0, 0], before = index ? (film.steps[index - 1].covered[name] || [0])[0] : 0;
        // Of an open number there is no share: a mark stands where it grew.
        const high = all ? floor * n / all : all === null && n > before ? 4 : 0;
        if (high) drawing.append(shape("rect", {class: `${all ? "share" : "grew"}${later}`, x: 1000 * x, y: floor - high, width: all ? width : Math.max(2, width - 2), height: high}));
        if (option && name in step.active) drawing.append(shape("rect", {class: (index ? "pick" : "begin") + later, x: 1000 * x, y: 14, width: Math.max(2, width - 2), height: 6}));
      });
      drawing.append(shape("line", {class: "here", x1: 1000 * where[at][1], x2: 1000 * where[at][1], y1: 0, y2: 20}));
      drawing.setAttribute("aria-label", `${name}: ${figures}${times}`);
      drawing.onclick = seekIn(drawing);
      row.append(make("span", name.replaceAll("_", " "), name in now.active ? "on" : ""), make("span", figures + times), drawing);
      return row;
    }));
  }

  function line(steps, where, top) {
    return steps.map((step, index) => {
      const y = 95 - 90 * step.value / top, [x, end] = where[index];
      return `${index ? "L" : "M"}${1000 * x} ${y}L${1000 * end} ${y}`;
    }).join("");
  }

  function curves() {
    const where = spans(), top = Math.max(...film.steps.map(step => step.value), 1e-9), x = 1000 * where[at][1];
    const bottom = Math.min(0, ...film.steps.map(step => step.value));
    const drawn = film.steps.map(step => ({value: step.value - bottom}));
    const curve = $("curve"), bars = $("bars");
    for (const node of [curve, bars]) { node.setAttribute("viewBox", "0 0 1000 100"); node.onclick = seekIn(node); }
    curve.replaceChildren(
      shape("path", {class: "path later", d: line(drawn, where, top - bottom)}),
      shape("path", {class: "path", d: line(drawn.slice(0, at + 1), where, top - bottom)}),
      shape("line", {class: "here", x1: x, x2: x, y1: 0, y2: 100}));
    $("reach").textContent = `${short(film.steps[0].value)} to ${short(film.steps[last()].value)}`;
    curve.setAttribute("aria-label", `from ${short(film.steps[0].value)} to ${short(film.steps[last()].value)}`);
    const rewards = film.steps.slice(1).map(step => step.reward), low = Math.min(0, ...rewards), high = Math.max(0, ...rewards), scale = 90 / (high - low || 1);
    bars.replaceChildren(...rewards.map((reward, index) => {
      const [from, end] = where[index + 1], zero = 95 + low * scale, y = zero - reward * scale;
      return shape("rect", {class: `bar${index + 1 === at ? " now" : ""}${index + 1 > at ? " later" : ""}`, x: 1000 * from, y: Math.min(y, zero), width: Math.max(2, 1000 * (end - from) - 2), height: Math.max(1, Math.abs(y - zero))});
    }), shape("line", {class: "here", x1: x, x2: x, y1: 0, y2: 100}));
    bars.setAttribute("aria-label", `rewards from ${short(low)} to ${short(high)}`);
    $("range").textContent = rewards.length ? `${short(low)} to ${short(high)}` : "";
  }

  // ------------------------------------------------------------------ playback
  function pause() { clearTimeout(timer); timer = 0; $("run").textContent = "Play"; }
  function tick() {
    if (at >= last()) return pause();
    show(at + 1);
    timer = setTimeout(tick, 1000 * $("speed").value);
  }
  function toggle() {
    if (timer) return pause();
    if (at >= last()) show(0);
    $("run").textContent = "Pause";
    timer = setTimeout(tick, 400 * $("speed").value);
  }
  $("run").onclick = toggle;
  $("first").onclick = () => { pause(); show(0); };
  $("back").onclick = () => { pause(); show(at - 1); };
  $("next").onclick = () => { pause(); show(at + 1); };
  $("last").onclick = () => { pause(); show(last()); };
  $("seek").oninput = () => { pause(); show(Number($("seek").value)); };
  $("code").onscroll = frame;
  $("map").onclick = event => {
    const box = $("map").getBoundingClientRect(), pane = $("code");
    const n = Math.max(film.listing.lines.length, 60), row = (event.clientY - box.top) / box.height * n;
    pane.scrollTop = row / film.listing.lines.length * pane.scrollHeight - pane.clientHeight / 2;
  };
  addEventListener("resize", frame);
  addEventListener("keydown", event => {
    const tag = event.target.tagName;
    if (event.ctrlKey || event.metaKey || event.altKey || tag === "SELECT") return;
    if (live && /^[1-9]$/.test(event.key)) { const chip = $("chips").children[event.key - 1]; if (chip && !$("play").hidden) chip.click(); return; }
    if (tag === "BUTTON" && (event.key === " " || event.key === "Enter")) return;
    if (live && event.key === "Enter") { if (!$("play").hidden) $("go").click(); return; }
    const keys = {" ": toggle, ArrowLeft: () => $("back").click(), ArrowRight: () => $("next").click(), Home: () => $("first").click(), End: () => $("last").click()};
    if (keys[event.key] && !(tag === "INPUT" && event.target.type === "range" && event.key !== " ")) { event.preventDefault(); keys[event.key](); }
  });

  // ------------------------------------------------------------------ light and dark
  const root = document.documentElement;
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  $("theme").onclick = () => { root.dataset.theme = dark() ? "light" : "dark"; };
  try {  // on a page of the documentation, follow its switch
    const host = frameElement && parent.document.body;
    const follow = () => { const theme = host.dataset.theme; if (theme === "auto" || !theme) delete root.dataset.theme; else root.dataset.theme = theme; };
    if (host) { follow(); new MutationObserver(follow).observe(host, {attributes: true, attributeFilter: ["data-theme"]}); $("theme").hidden = true; }
  } catch { /* another origin */ }

  // ------------------------------------------------------------------ the game
  async function ask(path, body) {
    const answer = await fetch(path, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)});
    const found = await answer.json();
    if (!answer.ok) throw new Error(found.error);
    return found;
  }
  const names = text => text.split("+").sort().join("+");
  const known = live && new Map(live.actions.map(action => [names(action), action]));
  const chosen = () => [...$("chips").children].filter(chip => chip.getAttribute("aria-pressed") === "true").map(chip => chip.dataset.name);
  const single = live && live.actions.every(action => !action.includes("+"));

  function judge() {
    const action = known.get(names(chosen().join("+")));
    $("go").disabled = busy || !action;
    const about = chosen().map(name => live.told[live.functions.indexOf(name)]).join(" ");
    $("hint").textContent = busy ? "The search is running …" : action ? about : chosen().length ? "This combination is not among the actions." : single ? "Choose one (keys 1 to 9), then run the step (Enter)." : "Choose one or more (keys 1 to 9), then run the step (Enter).";
  }

  function begin() {
    $("chips").replaceChildren(...live.functions.map((name, index) => {
      const chip = make("button");
      chip.type = "button"; chip.dataset.name = name; chip.title = live.told[index];
      chip.setAttribute("aria-pressed", "false");
      if (index < 9) chip.append(make("kbd", index + 1));
      chip.append(name.replaceAll("_", " "));
      chip.onclick = () => {
        const on = chip.getAttribute("aria-pressed") === "true";
        if (single) for (const other of $("chips").children) other.setAttribute("aria-pressed", "false");
        chip.setAttribute("aria-pressed", String(single || !on));
        judge();
      };
      return chip;
    }));
    $("play").hidden = Boolean(own.ended); $("result").hidden = !own.ended;
    judge();
    if (own.ended) compare();
  }

  if (live) {
    $("go").onclick = async () => {
      const action = known.get(names(chosen().join("+")));
      if (busy || !action) return;
      busy = true; judge(); pause();
      try {
        const scene = await ask("step", {action});
        own.steps.push(scene.step); own.since.push(...scene.since); own.rows = scene.rows; own.ended = scene.ended;
        busy = false;
        load(own); show(last()); judge();
        if (own.ended) { $("play").hidden = true; $("result").hidden = false; compare(); }
      } catch (problem) { busy = false; judge(); $("hint").textContent = problem.message; }
    };
    $("again").onclick = async () => { try { await ask("again", {}); location.reload(); } catch (problem) { $("caveat").textContent = problem.message; } };
  }

  async function compare() {
    const results = [{name: "you", told: "your choices", film: own}];
    $("what").textContent = own.goal.replaceAll("_", " ");
    $("caveat").textContent = "Everybody began with the same population and had the same budget. One seed says little: luck decides many a single run.";
    const tell = waiting => {
      const top = Math.max(...results.map(one => one.film.steps.at(-1).value), 1e-9), mine = own.steps.at(-1).value;
      const ranked = [...results].sort((a, b) => b.film.steps.at(-1).value - a.film.steps.at(-1).value);
      const ahead = results.filter(one => one.film.steps.at(-1).value > mine).length;
      $("verdict").textContent = waiting ? `You reached ${short(mine)}. Now ${waiting} plays the same episode …` : ahead ? `You reached ${short(mine)}: ${ahead} of ${results.length - 1} did better on this seed` : `You reached ${short(mine)}: nobody did better on this seed`;
      $("rivals").replaceChildren(...ranked.map(one => {
        const row = make("tr"), who = make("td"), picture = make("td"), watch = make("td"), button = make("button", one.film === film ? "shown" : "watch");
        const colour = live.tones.includes(one.agent || one.name) ? `var(--agent-${one.agent || one.name})` : "var(--agent-other)";
        const swatch = make("span", "", "swatch"); swatch.style.background = colour;
        who.append(swatch, one.name, make("small", one.told));
        film = one.film;
        const where = spans(), drawing = shape("svg", {viewBox: "0 0 1000 100", preserveAspectRatio: "none", role: "img", "aria-label": `reached ${short(one.film.steps.at(-1).value)}`});
        const path = shape("path", {class: "path", d: line(one.film.steps, where, top)}); path.style.stroke = colour;
        drawing.append(path); picture.append(drawing);
        button.type = "button"; button.onclick = () => { load(one.film); show(0); tell(waiting); scroll({top: $("figures").offsetTop}); };
        watch.append(button); row.append(who, make("td", short(one.film.steps.at(-1).value)), picture, watch);
        return row;
      }));
    };
    const redraw = waiting => { const shown = film; tell(waiting); film = shown; };
    for (const rival of live.rivals) {
      redraw(rival);
      try { results.push(await ask("rival", {name: rival})); } catch (problem) { $("caveat").textContent = `${rival}: ${problem.message}`; }
    }
    redraw("");
  }

  load(own);
  if (live) begin();
  show(live ? last() : 0);
})();
