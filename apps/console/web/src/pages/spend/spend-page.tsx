import { text } from '../../text/index.ts';
import { PageHead } from '../../ui/parts.tsx';

export function SpendPage() {
  return <PageHead title={text.spend.title} />;
}
