/** The model of a call, as its sender reports it. */
export interface ReportedModel {
  /** Which model answered. */
  responseModel: string | undefined;
  requestModel: string | undefined;
  provider: string | undefined;
}

/** As in `-2026-08-06`, `-20250929` or `@20250929`. */
const DATE = /(-\d{4}-\d{2}-\d{2}|-\d{8}|@[^@]*)$/;
const BEDROCK_REGION = /^(us-gov|us|ca|eu|apac|au|jp|in|global)\./;
const BEDROCK_VERSION = /-v\d+:\d+$/;
/** Some prices name the version without it. */
const BEDROCK_REVISION = /(-v\d+):\d+$/;

/** How prices name a provider that OpenTelemetry's conventions or senders name otherwise. */
const PROVIDERS: ReadonlyMap<string, string> = new Map([
  ['aws.bedrock', 'bedrock'],
  ['azure.ai.inference', 'azure_ai'],
  ['azure.ai.openai', 'azure'],
  ['gcp.gemini', 'gemini'],
  ['gcp.gen_ai', 'gemini'],
  ['gcp.vertex_ai', 'vertex_ai'],
  ['google', 'gemini'],
  ['ibm.watsonx.ai', 'watsonx'],
  ['mistral_ai', 'mistral'],
  ['x_ai', 'xai'],
]);

/**
 * The names under which a price is looked up, in order and in lower case: those of the model that answered, then those
 * of the model of the request. A model is looked up exactly, without its date, the same with the provider before it or
 * without the provider that it begins with, and then by Bedrock's names without version and region.
 */
export function* modelNames({ responseModel, requestModel, provider }: ReportedModel): Generator<string> {
  for (const reported of [responseModel, requestModel]) {
    if (reported === undefined) continue;
    const model = reported.trim().toLowerCase();
    const names = withoutRepeats(model, model.replace(DATE, ''));
    yield* names;
    if (provider !== undefined) {
      const before = overrideName({ provider, model: '' });
      for (const name of names) yield before + name;
      for (const name of names) if (name.startsWith(before)) yield name.slice(before.length);
    }
    if (!BEDROCK_REGION.test(model) && !BEDROCK_VERSION.test(model)) continue;
    // A region may have a price of its own, so it is cut last.
    for (const name of withoutRepeats(model, model.replace(BEDROCK_REGION, ''))) {
      const ofAnyVersion = name.replace(BEDROCK_VERSION, '');
      yield* [name, name.replace(BEDROCK_REVISION, '$1'), ofAnyVersion, ofAnyVersion.replace(DATE, '')];
    }
  }
}

function withoutRepeats(one: string, other: string): string[] {
  return one === other ? [one] : [one, other];
}

/**
 * The names under which an override is looked up, in order: those of {@link modelNames} for the provider of the call,
 * if it names one, and then those for any.
 */
export function* overrideNames(reported: ReportedModel): Generator<string> {
  const { provider } = reported;
  if (provider !== undefined) {
    for (const model of modelNames({ ...reported, provider: undefined })) yield overrideName({ provider, model });
  }
  yield* modelNames(reported);
}

/**
 * The name that a model has with its provider and elsewhere: in lower case, without a date, the provider before it, and
 * the region and version of Bedrock.
 */
export function baseModel(model: string): string {
  const name = model.toLowerCase();
  const ofProvider = name.slice(name.lastIndexOf('/') + 1);
  return ofProvider.replace(BEDROCK_REGION, '').replace(BEDROCK_VERSION, '').replace(DATE, '');
}

/** The name under which the price of a model is found: with a provider, only its calls have it. */
export function overrideName({ provider, model }: { provider: string | undefined; model: string }): string {
  if (provider === undefined) return model.toLowerCase();
  const ofProvider = provider.toLowerCase();
  return `${PROVIDERS.get(ofProvider) ?? ofProvider}/${model.toLowerCase()}`;
}
