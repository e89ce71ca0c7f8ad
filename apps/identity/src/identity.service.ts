import { createAuditTrail } from '@tollkeeper/audit-trail';
import { createConsumerGroup, observeOutboxes } from '@tollkeeper/event-log';
import { createGrpcServer } from '@tollkeeper/grpc';
import { createHttpServer } from '@tollkeeper/http';
import { createMailWorker, createSmtpSender, mailSettingsOf } from '@tollkeeper/mail';
import {
  assembleService,
  type Component,
  inBackground,
  type Logger,
  type ServesGrpc,
  type ServesHttp,
} from '@tollkeeper/runtime';
import { createServiceBase, type DataServiceDeps } from '@tollkeeper/service';
import type { IdentityConfig } from './config.ts';
import { CONSUMER_GROUP, createGatewayEventsConsumer } from './consumers/gateway-events.consumer.ts';
import { createDeviceLogin } from './device-login.ts';
import { createAgentUseCases } from './domain/agent.use-cases.ts';
import { createAuthUseCases } from './domain/auth.use-cases.ts';
import { createInvitationUseCases } from './domain/invitation.use-cases.ts';
import type { Mailing } from './domain/mail.ts';
import { createMailWriter, type MailWriterDeps } from './domain/mail.writer.ts';
import { createMemberUseCases } from './domain/member.use-cases.ts';
import { createEnsureOwner, createFirstOwner, type EnsureOwner } from './domain/owner.bootstrap.ts';
import { createPasswordHasher } from './domain/password.hasher.ts';
import { createPasswordResetUseCases } from './domain/password-reset.use-cases.ts';
import type { PasswordPolicy } from './domain/password.policy.ts';
import { createWorkspaceUseCases } from './domain/workspace.use-cases.ts';
import { createIdentityHandlers } from './grpc/identity.handlers.ts';
import { createAgentRoutes } from './http/agent.routes.ts';
import { createAuthRoutes } from './http/auth.routes.ts';
import { createInvitationRoutes } from './http/invitation.routes.ts';
import { createMemberRoutes } from './http/member.routes.ts';
import { createOrganisationRoutes } from './http/organisation.routes.ts';
import { createSessionCookies } from './http/session.cookies.ts';
import { createWorkspaceRoutes } from './http/workspace.routes.ts';
import { createMachineLogin } from './machine-login.ts';
import { createRefusedLogins } from './refused.logins.ts';
import { createSingleSignOn } from './single-sign-on.ts';
import { createAccountTrail } from './store/account.trail.ts';
import { createAgentStore } from './store/agent.store.ts';
import { createAttemptLimiter } from './store/attempt.limiter.ts';
import { createBootstrapStore } from './store/bootstrap.store.ts';
import { createInvitationStore } from './store/invitation.store.ts';
import { createMemberStore } from './store/member.store.ts';
import { createOrganisationStore } from './store/organisation.store.ts';
import { createMailLimiter } from './store/mail.limiter.ts';
import { createMailStore } from './store/mail.store.ts';
import { createModels, type IdentityModels } from './store/models.ts';
import { createPasswordResetStore } from './store/password-reset.store.ts';
import { createSessionStore } from './store/session.store.ts';
import { createUserStore } from './store/user.store.ts';
import { createWorkspaceStore } from './store/workspace.store.ts';

export interface IdentityDeps extends DataServiceDeps<IdentityConfig> {
  /** Milliseconds between two looks for mails to send. Default: 1 s. */
  mailIntervalMs?: number;
}

/** Users, sessions, workspaces, members and agents, over HTTP and gRPC. Addresses are valid once started. */
export interface IdentityService extends Component, ServesHttp, ServesGrpc {
  /** Creates the first owner, for a process that includes this service. Valid once started. */
  readonly ensureOwner: EnsureOwner;
}

export function createIdentity(deps: IdentityDeps): IdentityService {
  const base = createServiceBase('identity', deps);
  const { config, mongo, connection, logger, metrics, clock } = base;
  const models = createModels(connection);
  const trail = createAuditTrail(base);
  observeOutboxes(base, [trail.outbox]);
  const accounts = createAccountTrail(models, trail);
  const refusedLogins = createRefusedLogins({ models, accounts, metrics, logger });
  const users = createUserStore(models, accounts);
  const workspaceStore = createWorkspaceStore(models, trail);
  const agentStore = createAgentStore(models, trail);
  const limiter = createAttemptLimiter(connection);
  const hasher = createPasswordHasher();

  const sessions = createSessionStore(models, accounts);
  const passwordPolicy = passwordPolicyOf(config);
  const auth = createAuthUseCases({
    ...{ users, sessions, workspaces: workspaceStore, hasher, limiter, passwordPolicy, clock },
    onRefused: refusedLogins.record,
  });
  const workspaces = createWorkspaceUseCases({ workspaces: workspaceStore, clock });
  const resetStore = createPasswordResetStore(models, accounts);
  const invitationStore = createInvitationStore(models, workspaceStore, trail);
  const mail = createMailParts(deps, {
    ...{ models, users, workspaces: workspaceStore, passwordPolicy, clock },
    ...{ resets: resetStore, invitations: invitationStore },
  });
  const { mailing } = mail;
  const resets = createPasswordResetUseCases({ resets: resetStore, hasher, limiter, mailing, clock });
  const members = createMemberUseCases(createMemberStore(models, trail));
  const invitations = createInvitationUseCases({
    invitations: invitationStore,
    ...{ sessions, hasher, limiter, passwordPolicy, mailing, clock },
  });
  const organisations = createOrganisationStore(models, { trail, accounts, clock });
  const agents = createAgentUseCases({ agents: agentStore, clock });

  const cookies = createSessionCookies(config.PUBLIC_URL);
  const singleSignOn = createSingleSignOn({
    ...{ config, models, users, workspaces: workspaceStore, auth, passwordPolicy, sessionCookies: cookies },
    ...{ trail, accounts, clock, logger, metrics },
  });
  const machineLogin = createMachineLogin({ config, models, trail, accounts, auth, clock, logger, metrics });
  const deviceLogin = createDeviceLogin({ config, models, accounts, auth, clock });

  const http = createHttpServer({
    ...base,
    routes: [
      ...createAuthRoutes(auth, resets, cookies),
      ...[singleSignOn, machineLogin, deviceLogin].flatMap(({ routes }) => routes),
      ...createWorkspaceRoutes(workspaces),
      ...createOrganisationRoutes(organisations),
      ...createMemberRoutes({ members, invitations, organisations }, config.PUBLIC_URL),
      ...createInvitationRoutes(invitations, cookies, config.PUBLIC_URL),
      ...createAgentRoutes(agents),
    ],
  });
  const services = [createIdentityHandlers({ auth, workspaces, agents, agentStore })];
  const grpc = createGrpcServer({ ...base, services });
  const consumer = createGatewayEventsConsumer({
    group: createConsumerGroup({ ...base, name: CONSUMER_GROUP }),
    agents: agentStore,
  });
  const bootstrap = { store: createBootstrapStore(models, trail, accounts), hasher, clock };
  const firstOwner = createFirstOwnerStep(config, createFirstOwner(bootstrap), logger);
  // Log-ins do not wait for the log.
  const parts = [
    ...[
      mongo,
      refusedLogins,
      trail.outbox,
      firstOwner,
      limiter,
      ...mail.parts,
      singleSignOn.part,
      ...machineLogin.parts,
      ...deviceLogin.parts,
    ],
    inBackground(consumer, logger),
  ];
  const service = assembleService({ ...base, parts, grpc, http });
  return Object.assign(service, { ensureOwner: createEnsureOwner(bootstrap) });
}

function passwordPolicyOf(config: IdentityConfig): PasswordPolicy {
  const breakGlass = config.PASSWORD_LOGIN_BREAK_GLASS ?? config.FIRST_OWNER_EMAIL ?? null;
  return { allowed: config.PASSWORD_LOGIN, breakGlass };
}

/** The queue of mails and the worker that sends them; none without a mail server. */
function createMailParts(
  { config, logger, mailIntervalMs: intervalMs }: Pick<IdentityDeps, 'config' | 'logger' | 'mailIntervalMs'>,
  { models, clock, ...stores }: Omit<MailWriterDeps, 'publicUrl'> & { models: IdentityModels },
): { mailing: Mailing | null; parts: Component[] } {
  const settings = mailSettingsOf(config);
  if (settings === null) return { mailing: null, parts: [] };
  const store = createMailStore(models);
  const limiter = createMailLimiter(models.connection);
  const write = createMailWriter({ ...stores, publicUrl: config.PUBLIC_URL, clock });
  const worker = createMailWorker({ store, write, send: createSmtpSender(settings), clock, logger, intervalMs });
  return { mailing: { queue: store, limiter }, parts: [limiter, worker] };
}

/** Creates the owner that the settings name, if any, before the servers start, so that a log-in finds the owner. */
function createFirstOwnerStep(
  config: IdentityConfig,
  ensureFirstOwner: ReturnType<typeof createFirstOwner>,
  logger: Logger,
): Component {
  const { FIRST_OWNER_EMAIL: email, FIRST_OWNER_PASSWORD: password, FIRST_WORKSPACE_SLUG: slug } = config;
  return {
    name: 'first-owner',
    async start() {
      if (email === undefined || password === undefined) return;
      const made = await ensureFirstOwner({ email, password, workspace: { slug, name: slug } });
      if (made !== null) logger.info({ user_id: made.userId, workspace_slug: slug }, 'the first owner was created');
    },
    async stop() {},
  };
}
