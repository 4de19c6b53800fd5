import type { Controller } from "../controller/controller.ts";
import type { SourceInformer } from "../controller/source.ts";
import type { LeaderElector } from "../leader/leader-elector.ts";

/** How old a copy may be before whoever relies on it should not be asked. */
export interface StalenessOptions {
  /** Without an open watch: since the server last confirmed the copy. Default 60,000. */
  readonly cutMsMax?: number;
  /**
   * With one: a server without bookmarks may say nothing for as long as a watch lasts. Default 720,000; three minutes will do
   * where there are bookmarks, which come once a minute.
   */
  readonly silentMsMax?: number;
}

/**
 * Whether copies are complete and fresh, for `/readyz`: true, or which are not and since when. A copy whose server has not
 * confirmed it within the bound is not, also where the connection looks well.
 */
export function freshness(
  informers: readonly SourceInformer[],
  { cutMsMax = 60_000, silentMsMax = 720_000 }: StalenessOptions = {},
): true | string {
  const problems = informers.flatMap((informer) => {
    const { plural } = informer.type;
    if (!informer.hasSynced) return [`${plural} were not read whole yet`];
    const lagMs = informer.lagMs();
    if (lagMs <= (informer.connected ? silentMsMax : cutMsMax)) return [];
    const seconds = Math.round(lagMs / 1000);
    return [`${plural} are ${seconds} s old${informer.connected ? "" : " and not watched"}`];
  });
  return problems.length === 0 ? true : problems.join("; ");
}

/** Whether a process works, for `/healthz`: true, or what will not end without a restart. */
export function liveness(
  controllers: readonly Pick<Controller, "name" | "counts">[],
  election?: Pick<LeaderElector, "name" | "status">,
): true | string {
  const problems = controllers
    .filter(({ counts }) => counts.stuck > 0)
    .map(({ name, counts }) => `${counts.stuck} reconciles of ${name} have not ended since their deadline`);
  const overdueMs = election?.status.overdueMs ?? 0;
  if (overdueMs > overdueMsMax)
    problems.push(
      `lease ${election?.name} is lost since ${Math.round(overdueMs / 1000)} s, and its work has not ended`,
    );
  return problems.length === 0 ? true : problems.join("; ");
}

/** A leader that has lost its lease has so long to end its work. */
const overdueMsMax = 10_000;
