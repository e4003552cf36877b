import { createElement, useMemo, type ReactNode } from 'react';
import { parseNotes, type NoteNode } from './notes-tree.ts';
import styles from './notes.module.css';

function rendered(node: NoteNode, key: number): ReactNode {
  if (typeof node === 'string') return node;
  const { tag, href, inside } = node;
  if (tag === 'br') return <br key={key} />;
  const link = tag === 'a' ? { href, target: '_blank', rel: 'noopener noreferrer nofollow' } : {};
  return createElement(tag, { key, ...link }, ...inside.map(rendered));
}

/** Notes as listeners read them, in the show's voice. They are data: nothing of them runs or loads. */
export function Notes({ of: html, lang }: { readonly of: string; readonly lang?: string | undefined }) {
  const nodes = useMemo(() => parseNotes(html), [html]);
  return (
    <div className={styles.notes} lang={lang}>
      {nodes.map(rendered)}
    </div>
  );
}
