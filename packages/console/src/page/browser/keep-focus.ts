/**
 * Keeps the keyboard where it was when what had the focus goes away: on the same button of the next row, else of the one before, else on
 * the first that can have it in what surrounded it. Without that a browser begins at the top of the page. Returns what ends it.
 */
export function keepFocus(root: HTMLElement): () => void {
  let focused: HTMLElement | undefined;
  const onFocus = (event: FocusEvent): void => {
    if (event.target instanceof HTMLElement) focused = event.target;
  };
  const observer = new MutationObserver((records) => {
    const lost = focused;
    if (lost === undefined || lost.isConnected || document.activeElement !== document.body) return;
    const record = records.find(({ removedNodes }) => [...removedNodes].some((node) => node.contains(lost)));
    if (record === undefined) return;
    focused = undefined;
    heirOf(lost, record)?.focus();
  });
  root.addEventListener("focusin", onFocus);
  observer.observe(root, { childList: true, subtree: true });
  return () => {
    root.removeEventListener("focusin", onFocus);
    observer.disconnect();
  };
}

function heirOf(lost: HTMLElement, record: MutationRecord): HTMLElement | undefined {
  const action = lost.dataset["action"];
  const same = (node: Element): HTMLElement | null =>
    action === undefined ? null : node.querySelector<HTMLElement>(`[data-action="${action}"]`);
  for (const step of ["nextSibling", "previousSibling"] as const) {
    for (let node = record[step]; node !== null; node = node[step]) {
      const found = node instanceof Element && node.isConnected ? same(node) : null;
      if (found !== null) return found;
    }
  }
  const around =
    record.target instanceof Element ? record.target.closest<HTMLElement>("section, main") : null;
  return around?.querySelector<HTMLElement>("button, input, select, [tabindex]") ?? undefined;
}
