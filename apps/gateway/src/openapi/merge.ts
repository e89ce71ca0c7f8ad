import type { OpenApiDocument } from '@tollkeeper/http';

/** The OpenAPI document of a service, with its name. */
export interface ServiceDocument {
  service: string;
  document: OpenApiDocument;
}

type Schemas = NonNullable<NonNullable<OpenApiDocument['components']>['schemas']>;

/**
 * Merges the services' documents and then `own`: their paths, and their schemas under their own names. If two services
 * use a name for different schemas, the later schema is prefixed with its service's name. Throws when two documents
 * define the same path.
 */
export function mergeDocuments(own: OpenApiDocument, services: readonly ServiceDocument[]): OpenApiDocument {
  const paths: NonNullable<OpenApiDocument['paths']> = {};
  const schemas: Schemas = { ...own.components?.schemas };
  for (const { service, document } of services) {
    const { paths: added = {}, components } = withOwnNames(document, service, schemas);
    for (const [path, item] of Object.entries(added)) {
      if (path in paths || path in (own.paths ?? {}))
        throw new Error(`${service} defines ${path}, which another service already defines`);
      paths[path] = item;
    }
    Object.assign(schemas, components?.schemas);
  }
  return { ...own, paths: { ...paths, ...own.paths }, components: { ...own.components, schemas } };
}

function withOwnNames(document: OpenApiDocument, service: string, taken: Schemas): OpenApiDocument {
  const schemas = document.components?.schemas ?? {};
  const clashing = Object.keys(schemas).filter(
    (name) => name in taken && JSON.stringify(taken[name]) !== JSON.stringify(schemas[name]),
  );
  if (clashing.length === 0) return document;
  const prefix = service.charAt(0).toUpperCase() + service.slice(1);
  const renamed = JSON.parse(
    clashing.reduce(
      (text, name) => text.replaceAll(`"#/components/schemas/${name}"`, `"#/components/schemas/${prefix}${name}"`),
      JSON.stringify(document),
    ),
  ) as OpenApiDocument;
  const renamedSchemas = Object.entries(renamed.components?.schemas ?? {}).map(([name, schema]) => [
    clashing.includes(name) ? prefix + name : name,
    schema,
  ]);
  return { ...renamed, components: { ...renamed.components, schemas: Object.fromEntries(renamedSchemas) as Schemas } };
}
