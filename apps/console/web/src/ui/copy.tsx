import { useState } from 'react';
import { text } from '../text/index.ts';
import { Button } from './button.tsx';

/** Copies `value` to the clipboard, and says so for a second. Browsers offer none to pages without TLS. */
export function CopyButton({ value, label }: { value: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  if (!isSecureContext) return null;
  return (
    <Button
      look="quiet"
      aria-label={label}
      onClick={() => {
        void navigator.clipboard.writeText(value).then(() => {
          setCopied(true);
          setTimeout(() => setCopied(false), 2_000);
        });
      }}
    >
      {copied ? text.common.action.copied : text.common.action.copy}
    </Button>
  );
}
