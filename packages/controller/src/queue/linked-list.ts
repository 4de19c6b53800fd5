/** The place of one item in a list. */
export interface Link<T> {
  readonly item: T;
  previous: Link<T> | undefined;
  next: Link<T> | undefined;
}

/** A list from whose middle an item can be taken in constant time, by the link that `push` returned. */
export class LinkedList<T> {
  #first: Link<T> | undefined;
  #last: Link<T> | undefined;

  get first(): T | undefined {
    return this.#first?.item;
  }

  get isEmpty(): boolean {
    return this.#first === undefined;
  }

  push(item: T): Link<T> {
    const link: Link<T> = { item, previous: this.#last, next: undefined };
    if (this.#last === undefined) this.#first = link;
    else this.#last.next = link;
    this.#last = link;
    return link;
  }

  /** Must be called once for a link, and by no other list. */
  remove({ previous, next }: Link<T>): void {
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
  }
}
