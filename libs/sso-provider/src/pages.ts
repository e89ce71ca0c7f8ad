import type { People } from './people.ts';

/** The log-in page: a button for each person, and one that refuses. */
export function logInPage(uid: string, people: People): string {
  const buttons = [...people].map(
    ([name, claims]) =>
      `<p><button name="person" value="${escape(name)}">${escape(name)}</button> <code>${escape(JSON.stringify(claims))}</code></p>`,
  );
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Who are you?</title><link rel="icon" href="data:,">
<style>body { font: 16px/1.5 system-ui; max-width: 50rem; margin: 3rem auto; padding: 0 1rem }</style>
<h1>Who are you?</h1>
<form method="post" action="/interaction/${escape(uid)}">${buttons.join('')}
<p><button name="person" value="">Cancel</button></p></form></html>`;
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
