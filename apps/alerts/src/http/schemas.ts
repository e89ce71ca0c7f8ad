import { identifier } from '@tollkeeper/contracts';
import { z } from 'zod';

export const ALERTS_PATH = '/api/v1/alerts';

export const ruleParams = z.object({ rule_id: identifier.meta({ description: 'Id of the rule' }) });
export const alertParams = z.object({ alert_id: identifier.meta({ description: 'Id of the alert' }) });
