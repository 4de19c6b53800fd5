import type { ReactNode } from "react";
import type { LabState } from "../../lab-state.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { StaleSign } from "../parts/stale-sign.tsx";
import { useMessages } from "../text/messages-context.ts";
import { versionScore } from "../view/version-score.ts";
import type { ScoreMark } from "../view/version-score.ts";

/** The truth and its copies over the newest versions, one line each. */
export function VersionScore({ state }: { readonly state: LabState }): ReactNode {
  const text = useMessages();
  const { score } = text;
  const { near, rows, versions } = versionScore(state);
  const isNear = (version: number): boolean => version >= near.first && version <= near.last;
  return (
    <section className="score" aria-labelledby="score-title">
      <header className="panel-head">
        <h2 id="score-title">{score.title}</h2>
        <ActionButton action="reset" commands={[{ do: "reset" }]}>
          {text.reset}
        </ActionButton>
      </header>
      <table>
        <caption className="unseen">{score.caption}</caption>
        <thead>
          <tr>
            <th scope="col">{score.who}</th>
            {versions.map((version) => (
              <th scope="col" key={version} data-near={isNear(version)}>
                {version}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.copy} data-stale={row.stale} data-truth={row.copy === ""}>
              <th scope="row">
                {row.copy === "" ? text.truth : row.copy}
                {row.stale && (
                  <>
                    {" "}
                    <StaleSign /> <span className="unseen">{text.stale}</span>
                  </>
                )}
              </th>
              {row.cells.map(({ byController, mark, version }) => (
                <td key={version} data-mark={mark} data-near={isNear(version)} data-controller={byController}>
                  <span className="unseen">
                    {score.cell[mark]}
                    {byController && ` (${text.controllerMark})`}
                  </span>
                  <span className="cell" aria-hidden="true">
                    {glyphs[mark]}
                  </span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <ul className="legend" aria-hidden="true">
        {score.legend.map(([mark, meaning]) => (
          <li key={mark} data-mark={mark}>
            <span className="cell">{glyphs[mark]}</span> {meaning}
          </li>
        ))}
        <li data-controller="true" data-mark="created">
          <span className="cell">{glyphs.created}</span> {text.controllerMark}
        </li>
      </ul>
    </section>
  );
}

const glyphs: Readonly<Record<ScoreMark, string>> = {
  created: "+",
  changed: "~",
  deleted: "−",
  forgotten: "·",
  has: "",
  unseen: "",
  lost: "×",
  takenOut: "?",
  future: "",
  other: "·",
};
