import { type Api, useChange } from '../../api/api.ts';
import { pauses as words } from '../../text/pauses.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { toast } from '../../ui/toasts.tsx';
import { PAUSE_READS } from './pause-dialog.tsx';

/** Asks before a pause ends. `name` is that of what is paused. */
export function Resume({ pause, name, onClose }: { pause: Api.Pause; name: string; onClose: () => void }) {
  const end = useChange('DELETE /api/v1/pauses/{pause_id}', PAUSE_READS);
  return (
    <Confirm
      title={words.resumeTitle(name)}
      action={words.resume}
      onClose={onClose}
      onConfirm={async () => {
        await end.mutateAsync({ path: { pause_id: pause.id } });
        toast(words.resumed(name));
      }}
    >
      {words.resumeText}
    </Confirm>
  );
}
