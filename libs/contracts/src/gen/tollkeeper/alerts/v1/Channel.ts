// Original file: tollkeeper/alerts/v1/alerts.proto

import type { ChatDestination as _tollkeeper_alerts_v1_ChatDestination, ChatDestination__Output as _tollkeeper_alerts_v1_ChatDestination__Output } from '../../../tollkeeper/alerts/v1/ChatDestination.ts';
import type { WebhookDestination as _tollkeeper_alerts_v1_WebhookDestination, WebhookDestination__Output as _tollkeeper_alerts_v1_WebhookDestination__Output } from '../../../tollkeeper/alerts/v1/WebhookDestination.ts';

export interface Channel {
  'id'?: (string);
  /**
   * False: nothing is to be sent.
   */
  'enabled'?: (boolean);
  /**
   * What people call the channel; empty where nobody gave it a name.
   */
  'name'?: (string);
  'chat'?: (_tollkeeper_alerts_v1_ChatDestination | null);
  'webhook'?: (_tollkeeper_alerts_v1_WebhookDestination | null);
  /**
   * Exactly one is set; it decides the type of the channel.
   */
  'destination'?: "chat"|"webhook";
}

export interface Channel__Output {
  'id': (string);
  /**
   * False: nothing is to be sent.
   */
  'enabled': (boolean);
  /**
   * What people call the channel; empty where nobody gave it a name.
   */
  'name': (string);
  'chat'?: (_tollkeeper_alerts_v1_ChatDestination__Output | null);
  'webhook'?: (_tollkeeper_alerts_v1_WebhookDestination__Output | null);
  /**
   * Exactly one is set; it decides the type of the channel.
   */
  'destination'?: "chat"|"webhook";
}
