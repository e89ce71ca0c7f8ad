/** The model of a call, as its sender reports it. */
export interface ReportedModel {
  /** Which model answered. */
  responseModel: string | undefined;
  requestModel: string | undefined;
  provider: string | undefined;
}

/** As in `-2026-08-06`, `-20250929` or `@20250929`. */
const DATE = /(-\d{4}-\d{2}-\d{2}|-\d{8}|@[^@]*)$/;
const BEDROCK_REGION = /^(us-gov|us|eu|apac|au|jp|in|global)\./;
const BEDROCK_VERSION = /-v\d+:\d+$/;

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
 * The names under which a price is looked up, in order and in lower case: the model that answered, exactly and without
 * its date, then the model of the request; the same with the provider before them; then Bedrock's names of models,
 * without region and version.
 */
export function* modelNames({ responseModel, requestModel, provider }: ReportedModel): Generator<string> {
  const models = [responseModel, requestModel].flatMap((model) => (model === undefined ? [] : [model.toLowerCase()]));
  const names = models.flatMap((model) => [model, model.replace(DATE, '')]);
  yield* names;
  if (provider !== undefined) {
    for (const name of names) yield overrideName({ provider, model: name });
  }
  for (const model of models) {
    const ofAnyRegion = model.replace(BEDROCK_REGION, '');
    const ofAnyVersion = ofAnyRegion.replace(BEDROCK_VERSION, '');
    yield* [ofAnyRegion, ofAnyVersion, ofAnyVersion.replace(DATE, '')];
  }
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
