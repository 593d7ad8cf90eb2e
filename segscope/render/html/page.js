// The panel and the search. Everything that a dump says is set with textContent: it is never read as markup.
(() => {
  const facts = JSON.parse(document.getElementById("facts").textContent);
  const { groups, cuts, findings } = facts;
  const tensors = new Map(facts.tensors.map((tensor) => [tensor.name, tensor]));
  const picture = startPicture(document.getElementById("picture"));
  const panel = document.getElementById("panel");
  const search = document.getElementById("search");
  const hits = document.getElementById("hits");
  const SHOWN = 200;

  // ---- the parts of the picture, by their titles

  const titles = (parts, test) => Object.keys(parts).filter((title) => test(parts[title]));
  const anyOf = (items, wanted = new Set(items)) => (drawn) => drawn.some((item) => wanted.has(item));
  const groupParts = (indices) => titles(facts.parts.groups, anyOf(indices));
  const expressionParts = (index, id) => titles(facts.parts.expressions, (drawn) => drawn[0] === index && drawn[1] === id);
  const places = new Map(cuts.map((cut, place) => [cut, place]));
  const cutParts = (found, has = anyOf(found.map((cut) => places.get(cut)))) => titles(facts.parts.cuts, (drawn) => has(drawn.cuts));
  const valueParts = (names, has = anyOf(names)) => titles(facts.parts.cuts, (drawn) => has(drawn.values));

  // ---- elements

  function element(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  function link(text, onClick) {
    const made = element("button", { type: "button", class: "link" }, text);
    made.addEventListener("click", onClick);
    return made;
  }

  function list(items, write, shown = SHOWN) {
    const rows = items.slice(0, shown).map((item) => element("li", {}, ...write(item)));
    if (items.length > shown) rows.push(element("li", { class: "quiet" }, `and ${items.length - shown} more`));
    return element("ul", {}, ...rows);
  }

  function quiet(text) {
    return element("span", { class: "quiet" }, text);
  }

  function show(...children) {
    panel.replaceChildren(...children.filter(Boolean));
    panel.scrollTop = 0;
  }

  // ---- links to groups, tensors and cuts

  function swatch(group) {
    const made = element("span", { class: "swatch", "aria-hidden": "true" });
    made.style.backgroundColor = group.fill;
    made.style.borderColor = group.border;
    return made;
  }

  const groupLink = (index) => link(groups[index].label, () => openGroup(index));

  function tensorItem(name) {
    const tensor = tensors.get(name);
    return [link(name, () => openTensor(name)), " ", quiet(tensor ? `${tensor.facts} ${tensor.role}` : "")];
  }

  function cutItem(cut) {
    const over = cut.tensors.flatMap((name, n) => [n ? ", " : "", link(name, () => openTensor(name))]);
    const way = [groupLink(cut.source), " → ", groupLink(cut.target), " over ", ...over];
    return [...way, element("br", {}), element("b", {}, cut.kind), ": ", cut.reason];
  }

  function groupItem(index) {
    return [
      swatch(groups[index]), link(groups[index].heading, () => openGroup(index)),
      element("br", {}), groups[index].operations, element("br", {}), quiet(groups[index].size),
    ];
  }

  function expressionItem(expression) {
    const title = `${expression.operation} (${expression.id})`;
    return [element("span", { class: "quiet", "data-expression": expression.id }, title), element("br", {}), element("code", {}, expression.text)];
  }

  function findingItem(finding) {
    const places = finding.groups.flatMap((index) => [" ", groupLink(index)]);
    return [
      element("span", { class: `severity ${finding.severity}` }, finding.severity), ` ${finding.rule}`, ...places,
      element("br", {}), finding.message,
      element("br", {}), quiet(finding.advice + (finding.option ? ` [${finding.option}]` : "")),
    ];
  }

  function section(title, items, write, shown) {
    if (!items.length) return null;
    return element("section", {}, element("h3", {}, `${title} (${items.length})`), list(items, write, shown));
  }

  // ---- what the panel shows

  const lists = {
    groups: () => list(groups.map((_, index) => index), groupItem),
    findings: () => findings.length ? list(findings, findingItem) : quiet("No findings."),
    cuts: () => cuts.length ? list(cuts, cutItem) : quiet("No cuts: there is nothing between groups."),
  };

  function openList(name) {
    picture.choose([]);
    press(name);
    show(facts.problem && element("p", { class: "problem" }, `No picture: ${facts.problem}`), lists[name]());
  }

  function openGroup(index, expression) {
    const group = groups[index];
    const touching = cuts.filter((cut) => cut.source === index || cut.target === index);
    const shown = expression === undefined ? SHOWN : Infinity;
    press(null);
    picture.choose([...groupParts([index]), ...expressionParts(index, expression)]);
    show(
      element("h2", {}, swatch(group), group.heading),
      element("div", {}, group.operations),
      quiet(group.size),
      section("Expressions", group.expressions.filter((e) => !e.scalar), expressionItem, shown),
      section("Expressions on scalars", group.expressions.filter((e) => e.scalar), expressionItem, shown),
      section("Reads", group.reads, tensorItem),
      section("Writes", group.writes, tensorItem),
      section("Findings", findings.filter((finding) => finding.groups.includes(index)), findingItem),
      section("Cuts", touching, cutItem),
    );
    const row = panel.querySelector(`[data-expression="${expression}"]`)?.closest("li");
    row?.classList.add("marked");
    row?.scrollIntoView({ block: "center" });
    panel.focus({ preventScroll: true });
  }

  function openTensor(name) {
    const tensor = tensors.get(name) ?? { facts: "", role: "", made: [], read: [] };
    const over = cuts.filter((cut) => cut.tensors.includes(name));
    const shortItem = (index) => [swatch(groups[index]), link(groups[index].heading, () => openGroup(index))];
    press(null);
    picture.choose([...groupParts([...tensor.made, ...tensor.read]), ...valueParts([name])]);
    show(
      element("h2", {}, name), quiet(`${tensor.facts} ${tensor.role}`),
      section("Computed by", tensor.made, shortItem),
      section("Read by", tensor.read, shortItem),
      section("Findings", findings.filter((finding) => finding.tensors.includes(name)), findingItem),
      section("Cuts", over, cutItem),
    );
    panel.focus({ preventScroll: true });
  }

  function openBox(indices) {
    press(null);
    picture.choose(groupParts(indices));
    show(
      section("Groups", indices, groupItem),
      section("Cuts", cuts.filter((cut) => indices.includes(cut.source) || indices.includes(cut.target)), cutItem),
    );
    panel.focus({ preventScroll: true });
  }

  function openCuts(found) {
    press(null);
    picture.choose(cutParts(found));
    show(section("Cuts", found, cutItem));
    panel.focus({ preventScroll: true });
  }

  function openCut(cut) {
    press(null);
    picture.choose(cutParts([cut]));
    show(element("h2", {}, `${groups[cut.source].label} → ${groups[cut.target].label}`),
      section("Tensors", cut.tensors, tensorItem), section("Why", [cut], cutItem));
    panel.focus({ preventScroll: true });
  }

  function press(name) {
    for (const button of document.querySelectorAll("[data-list]")) {
      button.setAttribute("aria-pressed", button.dataset.list === name);
    }
  }

  // ---- search

  function find(text) {
    const has = (...texts) => texts.some((t) => t.toLowerCase().includes(text));
    const exactFirst = (a, b) => (b.name.toLowerCase() === text) - (a.name.toLowerCase() === text);
    const everywhere = groups.flatMap((group, index) => group.expressions.map((e) => ({ ...e, index })));
    return {
      groups: groups.map((_, index) => index).filter((index) => has(groups[index].heading, groups[index].operations)),
      tensors: facts.tensors.filter((t) => has(t.name, t.facts, t.role)).sort(exactFirst),
      expressions: everywhere.filter((e) => has(e.text, e.operation)),
    };
  }

  function marked(text, part) {
    const at = text.toLowerCase().indexOf(part);
    if (at < 0) return [text];
    return [text.slice(0, at), element("mark", {}, text.slice(at, at + part.length)), text.slice(at + part.length)];
  }

  function runSearch() {
    const text = search.value.trim().toLowerCase();
    if (!text) {
      hits.textContent = "";
      picture.highlight(null);
      openList("groups");
      return;
    }
    const found = find(text);
    const ofTensors = found.tensors.flatMap((tensor) => [...tensor.made, ...tensor.read]);
    const total = found.groups.length + found.tensors.length + found.expressions.length;
    hits.textContent = total === 1 ? "1 hit" : `${total} hits`;
    press(null);
    picture.choose([]);
    picture.highlight([
      ...groupParts([...found.groups, ...ofTensors, ...found.expressions.map((e) => e.index)]),
      ...found.expressions.flatMap((e) => expressionParts(e.index, e.id)),
      ...valueParts(found.tensors.map((tensor) => tensor.name)),
    ]);
    show(
      total ? null : quiet("Nothing found."),
      section("Groups", found.groups, (index) => [
        swatch(groups[index]), link(groups[index].heading, () => openGroup(index)),
        element("br", {}), ...marked(groups[index].operations, text),
      ]),
      section("Tensors", found.tensors, (tensor) => [
        link(tensor.name, () => openTensor(tensor.name)), " ", ...marked(`${tensor.facts} ${tensor.role}`, text),
      ]),
      section("Expressions", found.expressions, (e) => [
        link(groups[e.index].label, () => openGroup(e.index, e.id)), ` ${e.operation}`,
        element("br", {}), element("code", {}, ...marked(e.text, text)),
      ]),
    );
  }

  // ---- start

  for (const [title, indices] of Object.entries(facts.parts.groups)) {
    const run = indices.length === 1 ? () => openGroup(indices[0]) : () => openBox(indices);
    picture.act(title, indices.map((index) => groups[index].heading).join(", "), run);
  }
  for (const [title, [index, id]] of Object.entries(facts.parts.expressions)) {
    const { operation } = groups[index].expressions.find((e) => e.id === id);
    picture.act(title, `${operation} in ${groups[index].label}`, () => openGroup(index, id));
  }
  for (const [title, drawn] of Object.entries(facts.parts.cuts)) {
    const found = drawn.cuts.map((position) => cuts[position]);
    const ways = found.map((cut) => `${groups[cut.source].label} to ${groups[cut.target].label}`);
    const run = found.length === 1 ? () => openCut(found[0]) : () => openCuts(found);
    picture.act(title, `${ways.length === 1 ? "cut" : "cuts"} from ${ways.join(", ")}`, run);
  }
  const counts = { groups: groups.length, findings: findings.length, cuts: cuts.length };
  for (const button of document.querySelectorAll("[data-list]")) {
    button.append(` ${counts[button.dataset.list]}`);
    button.addEventListener("click", () => openList(button.dataset.list));
  }
  search.addEventListener("input", runSearch);
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== search) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape") {
      search.value = "";
      runSearch();
    }
  });
  openList("groups");
})();
