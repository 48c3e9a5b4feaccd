"use strict";
(() => {
  const root = document.documentElement;
  const one = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const remember = (name, value) => { try { localStorage.setItem(name, value); } catch { /* a file may have no storage */ } };
  const recall = (name) => { try { return localStorage.getItem(name); } catch { return null; } };

  // light and dark
  const dark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const paint = (theme) => { root.dataset.theme = theme; remember("portal-conformance-theme", theme); };
  const kept = recall("portal-conformance-theme");
  if (kept === "light" || kept === "dark") root.dataset.theme = kept;
  const turn = () => paint(dark() ? "light" : "dark");
  one("#theme")?.addEventListener("click", turn);

  // on a phone a row of a table is a card, whose cells say their heads
  for (const table of all("table")) {
    const heads = all("thead th", table).map((head) => head.textContent);
    if (!heads.length) continue;
    table.classList.add("stack");
    for (const row of all("tbody tr", table)) {
      let at = 0;
      for (const cell of row.cells) { cell.dataset.head = heads[at]; at += cell.colSpan; }
    }
  }

  // boxes that scroll sideways are reached by the keyboard
  const scrolls = () => all(".table, figure.panel").forEach((box) => {
    if (box.scrollWidth > box.clientWidth) {
      box.tabIndex = 0;
      box.setAttribute("role", "group");
      if (!box.hasAttribute("aria-label")) box.setAttribute("aria-label", "Scrolls sideways");
    } else if (box.getAttribute("aria-label") === "Scrolls sideways") for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
  });
  addEventListener("resize", scrolls);
  document.addEventListener("toggle", scrolls, true);

  // copying
  document.addEventListener("click", async (event) => {
    const button = event.target.closest?.("button.copy");
    if (!button) return;
    const source = button.parentElement.querySelector("pre");
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(source);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1600);
  });

  // filters: findings and requirements carry what they are filtered by
  const rows = all("[data-v]");
  const bar = one(".bar");
  const search = one("#search");
  const chips = all(".chip");
  const choices = { level: one("#level"), chapter: one("#chapter"), endpoint: one("#endpoint") };
  const texts = new Map();
  const textOf = (row) => {
    if (!texts.has(row)) {
      const commands = all(".again, .run", row).map((one) => one.textContent);
      texts.set(row, commands.reduce((text, command) => text.replace(command, " "), row.textContent).toLowerCase());
    }
    return texts.get(row);
  };
  const opened = new Set();
  const pressed = () => chips.filter((chip) => chip.getAttribute("aria-pressed") === "true").map((chip) => chip.dataset.verdict);

  const has = (list, item, separator) => (list || "").split(separator).includes(item); // a card has several findings

  function filter({ keepHash = false } = {}) {
    if (!bar) return;
    const verdicts = pressed();
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const { level, chapter, endpoint } = { level: choices.level.value, chapter: choices.chapter.value, endpoint: choices.endpoint.value };
    const active = Boolean(verdicts.length || words.length || level || chapter || endpoint);
    let shown = 0, total = 0;
    for (const row of rows) {
      const fits = (!verdicts.length || verdicts.some((verdict) => has(row.dataset.v, verdict, " "))) && (!level || has(row.dataset.l, level, " "))
        && (!chapter || has(row.dataset.c, chapter, "|")) && (!endpoint || has(row.dataset.e, endpoint, " ")) && words.every((word) => textOf(row).includes(word));
      row.hidden = !fits;
      if (row.classList.contains("req")) { total += 1; shown += fits; }
    }
    for (const section of all(".chapter")) {
      const some = Boolean(section.querySelector(".req:not([hidden])"));
      section.hidden = active && !some;
      if (active && some && !section.open) { section.open = true; opened.add(section); }
      if (!active && opened.delete(section)) section.open = false;
    }
    for (const more of all(".more")) more.hidden = !more.querySelector(".finding:not([hidden])");
    for (const part of all(".part-group")) part.hidden = !part.querySelector(".chapter:not([hidden])");
    const none = one("#no-findings");
    if (none) none.hidden = !active || Boolean(one(".finding:not([hidden])")) || !one(".finding");
    one("#none-shown").hidden = shown > 0;
    one("#shown").textContent = active ? `${shown} of ${total}` : "";
    one("#clear").hidden = !active;
    if (keepHash) return;
    const kept = new URLSearchParams();
    if (verdicts.length) kept.set("verdict", verdicts.join(","));
    if (level) kept.set("level", level);
    if (chapter) kept.set("chapter", chapter);
    if (endpoint) kept.set("endpoint", endpoint);
    if (words.length) kept.set("q", search.value.trim());
    try { history.replaceState(null, "", active ? `#?${kept}` : "#"); } catch { /* not allowed everywhere */ }
  }

  function clear(options) {
    chips.forEach((chip) => chip.setAttribute("aria-pressed", "false"));
    if (search) search.value = "";
    Object.values(choices).forEach((choice) => { if (choice) choice.value = ""; });
    filter(options);
  }

  chips.forEach((chip) => chip.addEventListener("click", () => {
    chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
    filter();
  }));
  let typing;
  search?.addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(filter, 90); });
  Object.values(choices).forEach((choice) => choice?.addEventListener("change", () => filter()));
  one("#clear")?.addEventListener("click", () => { clear(); search.focus(); });

  // deep links: #LOGIN-004, #finding-LOGIN-004, #?verdict=fail&q=token
  function follow() {
    const hash = decodeURIComponent(location.hash.slice(1));
    if (hash.startsWith("?") && bar) {
      const kept = new URLSearchParams(hash.slice(1));
      const verdicts = (kept.get("verdict") || "").split(",");
      chips.forEach((chip) => chip.setAttribute("aria-pressed", String(verdicts.includes(chip.dataset.verdict))));
      search.value = kept.get("q") || "";
      Object.entries(choices).forEach(([name, choice]) => { choice.value = kept.get(name) || ""; });
      filter({ keepHash: true });
      return;
    }
    const place = hash && document.getElementById(hash);
    if (!place) return;
    if (place.hidden || place.closest("[hidden]")) clear({ keepHash: true });
    for (let up = place; up; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
    place.scrollIntoView({ block: "start", behavior: "instant" });
    (one("summary", place) || place).focus?.({ preventScroll: true });
  }
  addEventListener("hashchange", follow);

  // the keyboard
  const stops = () => all(".finding, .req > summary").filter((stop) => stop.checkVisibility ? stop.checkVisibility() : stop.offsetParent);
  function move(by) {
    const places = stops();
    if (!places.length) return;
    const now = places.findIndex((place) => place === document.activeElement || place.contains(document.activeElement));
    const next = places[now < 0 ? (by > 0 ? 0 : places.length - 1) : Math.min(places.length - 1, Math.max(0, now + by))];
    if (next.tabIndex < 0 && next.tagName !== "SUMMARY") next.tabIndex = -1;
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest", behavior: "instant" });
    const top = next.getBoundingClientRect().top;
    if (top < 70) scrollBy({ top: top - 80, behavior: "instant" });
  }
  const help = one("#help");
  const keys = {
    "/": () => { search?.focus(); search?.select(); },
    j: () => move(1), k: () => move(-1),
    o: () => {
      const card = document.activeElement.closest?.(".finding, .req");
      if (card?.classList.contains("req")) card.open = !card.open;
      else if (card) { const folds = all(".fold", card); const open = folds.some((fold) => !fold.open); folds.forEach((fold) => { fold.open = open; }); }
    },
    t: turn,
    c: () => clear(),
    "?": () => help?.showModal(),
  };
  chips.forEach((chip, at) => { keys[String(at + 1)] = () => chip.click(); });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help?.open) return;
    const typed = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName);
    if (event.key === "Escape" && typed) { if (search.value) { search.value = ""; filter(); } else document.activeElement.blur(); return; }
    if (typed || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  one("#keys")?.addEventListener("click", () => help.showModal());
  one("#close")?.addEventListener("click", () => help.close());

  // on paper, what a finding rests on is unfolded
  const unfolded = [];
  addEventListener("beforeprint", () => {
    unfolded.push(...all(".finding:not([hidden]) .fold.prints:not([open])"));
    unfolded.forEach((fold) => { fold.open = true; });
  });
  addEventListener("afterprint", () => { unfolded.splice(0).forEach((fold) => { fold.open = false; }); });

  if (bar) filter({ keepHash: true });
  follow();
  scrolls();
  root.dataset.ready = "yes";
})();
