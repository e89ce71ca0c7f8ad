import { incomingWebhook } from '../incoming.webhook.ts';
import { teamsBody } from './teams.body.ts';

export const teams = incomingWebhook('incoming webhook of a workflow in Microsoft Teams', teamsBody);
