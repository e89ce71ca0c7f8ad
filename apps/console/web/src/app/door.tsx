import { type ReactNode, useEffect } from 'react';
import { text } from '../text/index.ts';
import ui from '../ui/ui.module.css';
import { Mark } from './mark.tsx';
import css from './shell.module.css';

/** A page outside of workspaces: one card for one task. */
export function Door({ title, lead, children }: { title: string; lead?: ReactNode; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · ${text.common.product}`;
    return () => {
      document.title = text.common.product;
    };
  }, [title]);
  return (
    <main className={css['door']}>
      <span className={css['brand']}>
        <Mark />
        {text.common.product}
      </span>
      <section className={ui['card']}>
        <div className={css['form']}>
          <div>
            <h1>{title}</h1>
            {lead !== undefined && <p className={ui['hint']}>{lead}</p>}
          </div>
          {children}
        </div>
      </section>
    </main>
  );
}
