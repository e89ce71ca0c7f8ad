import { useState } from 'react';
import { labelList, type Labels, readLabels } from '../format/labels.ts';
import { text } from '../text/index.ts';
import { TextAreaField } from './field.tsx';
import { FormDialog } from './form-dialog.tsx';
import { Tag } from './parts.tsx';
import { toast, toastFailure } from './toasts.tsx';
import css from './ui.module.css';

const words = text.labels;

/** Labels as tags, in order of their names. */
export function LabelTags({ labels }: { labels: Labels | undefined }) {
  const list = labelList(labels);
  if (list.length === 0) return text.common.none;
  return (
    <ul className={css['labels']}>
      {list.map((label) => (
        <li key={label}>
          <Tag>{label}</Tag>
        </li>
      ))}
    </ul>
  );
}

/** The state of a {@link LabelsField}, which begins with these labels. */
export function useLabels(labels?: Labels) {
  const [typed, setTyped] = useState(() => labelList(labels).join('\n'));
  const [tried, setTried] = useState(false);
  const result = readLabels(typed);
  return {
    typed,
    setTyped,
    problem: tried ? result.problem : undefined,
    /** The typed labels. Null if they are not valid; the field then shows the problem. */
    read(): Labels | null {
      setTried(true);
      return result.labels ?? null;
    },
  };
}

/** Edits labels, one per line. `hint` says what they do. */
export function LabelsField({ state, hint }: { state: ReturnType<typeof useLabels>; hint: string }) {
  return (
    <TextAreaField
      label={words.title}
      hint={`${words.format} ${hint}`}
      problem={state.problem}
      rows={4}
      spellCheck={false}
      value={state.typed}
      onChange={({ target }) => state.setTyped(target.value)}
    />
  );
}

export interface LabelsDialogProps {
  /** The name of what has the labels. */
  name: string;
  labels: Labels | undefined;
  /** What the labels do. */
  hint: string;
  save: (labels: Labels) => Promise<unknown>;
  onClose: () => void;
}

/** Changes all labels of a key or an agent. */
export function LabelsDialog({ name, labels = {}, hint, save, onClose }: LabelsDialogProps) {
  const state = useLabels(labels);

  async function send(): Promise<void> {
    const next = state.read();
    if (next === null) return;
    await save(next);
    toast(words.saved(name), { undo: () => void save(labels).catch(toastFailure) });
    onClose();
  }

  return (
    <FormDialog title={words.editTitle(name)} send={send} onClose={onClose}>
      <LabelsField state={state} hint={hint} />
    </FormDialog>
  );
}
