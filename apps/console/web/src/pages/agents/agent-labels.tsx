import { useState } from 'react';
import { useChange } from '../../api/api.ts';
import { useMay } from '../../app/account.tsx';
import type { Labels } from '../../format/labels.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { LabelsDialog, LabelTags } from '../../ui/labels.tsx';
import { Card } from '../../ui/parts.tsx';

interface AgentLabelsProps {
  agentId: string;
  name: string;
  labels: Labels | undefined;
}

/** The labels of every call of the agent. Owners change them here. */
export function AgentLabels({ agentId, name, labels = {} }: AgentLabelsProps) {
  const mayEdit = useMay('owner');
  const [editing, setEditing] = useState(false);
  const change = useChange('PATCH /api/v1/agents/{agent_id}', ['GET /api/v1/agents', 'GET /api/v1/agents/{agent_id}']);
  return (
    <Card
      title={text.labels.title}
      link={
        mayEdit && (
          <Button look="quiet" onClick={() => setEditing(true)}>
            {text.labels.edit}
          </Button>
        )
      }
    >
      {Object.keys(labels).length === 0 ? <p>{text.agents.agent.noLabels}</p> : <LabelTags labels={labels} />}
      {editing && (
        <LabelsDialog
          name={name}
          labels={labels}
          hint={text.agents.labelsHint}
          save={(next) => change.mutateAsync({ path: { agent_id: agentId }, body: { labels: next } })}
          onClose={() => setEditing(false)}
        />
      )}
    </Card>
  );
}
