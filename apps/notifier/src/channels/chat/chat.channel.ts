import { incomingWebhook } from '../incoming.webhook.ts';
import { chatBody } from './chat.body.ts';

export const chat = incomingWebhook('incoming webhook of a chat service', chatBody);
