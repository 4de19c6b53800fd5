import type { ReactNode } from "react";
import { useMessages } from "../text/messages-context.ts";

/** What one sees on the page, and what to take home. */
export function About(): ReactNode {
  const text = useMessages();
  return (
    <section className="about" aria-labelledby="about-title">
      <h2 id="about-title">{text.aboutTitle}</h2>
      {text.about.map((paragraph) => (
        <p key={paragraph}>{paragraph}</p>
      ))}
      <details>
        <summary>{text.aboutMore}</summary>
        <dl className="lessons">
          {text.lessons.map(([title, lesson]) => (
            <div key={title}>
              <dt>{title}</dt>
              <dd>{lesson}</dd>
            </div>
          ))}
        </dl>
      </details>
    </section>
  );
}
