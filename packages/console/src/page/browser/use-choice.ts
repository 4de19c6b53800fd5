import { useCallback, useState } from "react";

/** A choice of the user that the browser remembers. Without storage it lasts as long as the page. */
export function useChoice<T extends string>(
  name: string,
  options: { readonly among: readonly T[]; readonly first: () => T },
): readonly [T, (choice: T) => void] {
  const [choice, setChoice] = useState<T>(() => {
    const kept = recall(name);
    return options.among.find((each) => each === kept) ?? options.first();
  });
  const choose = useCallback(
    (next: T) => {
      setChoice(next);
      remember(name, next);
    },
    [name],
  );
  return [choice, choose];
}

function recall(name: string): string | null {
  try {
    return localStorage.getItem(`informer-lab.${name}`);
  } catch {
    return null; // storage is switched off
  }
}

function remember(name: string, choice: string): void {
  try {
    localStorage.setItem(`informer-lab.${name}`, choice);
  } catch {
    // Storage is switched off: the choice lasts as long as the page.
  }
}
