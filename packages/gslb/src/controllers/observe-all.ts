import type { ClusterCopies } from "./cluster-copies.ts";
import type { GslbController } from "./gslb-controller.ts";

/**
 * Takes note of what every Gslb claims, once the copies of all kinds are there that their references lead to and through.
 * Until then a reference may be pending, and what it leads to may lead on to another kind.
 */
export async function observeAll(
  copies: Pick<ClusterCopies, "gslbs" | "optional">,
  gslbs: Pick<GslbController, "anticipate">,
): Promise<void> {
  // Whether there are legacy Gslbs.
  await copies.optional.settled();
  for (;;) {
    const { kindCount } = copies.optional;
    for (const gslb of copies.gslbs.lister.list()) gslbs.anticipate(gslb);
    await copies.optional.settled();
    if (copies.optional.kindCount === kindCount) return;
  }
}
