// The question before a tool runs. Everything that came from a model is set as text, never as markup.
function make(tag, names, text) {
  const node = document.createElement(tag);
  if (names) node.className = names;
  if (text !== undefined) node.textContent = text;
  return node;
}

function runs(parent, pieces) {
  for (const [text, boxed] of pieces) parent.append(boxed ? make("span", "l-esc", text) : text);
}

function words(seconds) {
  const left = Math.max(0, Math.ceil(seconds));
  const minutes = Math.floor(left / 60);
  const rest = String(left % 60).padStart(minutes ? 2 : 1, "0");
  return minutes ? `${minutes} min ${rest} s` : `${rest} s`;
}

function table(rows) {
  const made = make("table", "l-t v-apv");
  const head = make("tr");
  head.append(make("th", "a-f", "Argument"), make("th", "a-v", "Value"));
  const top = make("thead");
  top.append(head);
  const body = make("tbody");
  for (const row of rows) {
    const line = make("tr");
    const name = make("td", "a-f");
    const bold = make("b");
    const code = make("code");
    runs(code, row.name);
    bold.append(code);
    name.append(bold);
    const value = make("td", "a-v");
    const shown = make("code");
    runs(shown, row.value);
    value.append(shown);
    if (row.hidden) {
      const note = make("div", "l-msg");
      note.append(make("span", "l-st l-pending", "! hidden characters"), " shown escaped");
      value.append(note);
    }
    line.append(name, value);
    body.append(line);
  }
  made.append(top, body);
  return made;
}

export default {
  render({ model, el }) {
    const state = model.get("state");
    const style = make("style", "", state.css);
    const root = make("div", "lnb");
    const panel = make("div", "l-panel");
    panel.setAttribute("role", "group");
    panel.setAttribute("aria-label", "Approval");
    const head = make("div", "l-hd");
    const title = make("b", "l-ti", "Approve ");
    const name = make("code");
    runs(name, state.function);
    title.append(name);
    const status = make("span", "l-st l-pending");
    status.append(make("span", "l-sy", "○"), " waiting for you");
    const clock = make("span", "l-me");
    head.append(title, status, clock);
    panel.append(head, make("p", "l-sub", "The model asks to run this tool once, with exactly these arguments."));
    panel.append(state.rows.length ? table(state.rows) : make("p", "l-2", "It takes no arguments."));
    const acts = make("div", "l-acts");
    const approve = make("button", "l-btn l-pri", "Approve once");
    const deny = make("button", "l-btn", "Deny");
    const reason = make("input", "l-in");
    reason.placeholder = "Reason, told to the model (optional)";
    reason.setAttribute("aria-label", "Reason");
    for (const control of [approve, deny, reason]) control.setAttribute("data-lm-suppress-shortcuts", "true");
    acts.append(approve, deny, reason);
    panel.append(acts);
    root.append(panel);
    el.append(style, root);

    const ends = Date.now() + state.seconds * 1000;
    const tick = () => {
      clock.textContent = `denied by itself in ${words((ends - Date.now()) / 1000)}`;
    };
    tick();
    const timer = setInterval(tick, 1000);
    const answer = (allowed) => {
      for (const control of [approve, deny, reason]) control.disabled = true;
      clearInterval(timer);
      model.send({ kind: "answer", allowed, reason: reason.value });
    };
    approve.addEventListener("click", () => answer(true));
    deny.addEventListener("click", () => answer(false));
    return () => clearInterval(timer);
  },
};
