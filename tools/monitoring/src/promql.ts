import type { SyntaxNode } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';

/** What a PromQL expression refers to. */
export interface Query {
  /** Each metric that it reads, with its label matchers and the values of literal ones. */
  selectors: { metric: string; labels: Record<string, string> }[];
  /** Labels by which it groups, joins or matches. */
  groupings: string[];
}

/** Parses an expression. Throws at the first position that is not PromQL. */
export function readQuery(expression: string): Query {
  const query: Query = { selectors: [], groupings: [] };
  const textOf = (node: SyntaxNode) => expression.slice(node.from, node.to);
  parser.parse(expression).iterate({
    enter({ type, node, from }) {
      if (type.isError) throw new Error(`Not PromQL from character ${from}: ${expression.slice(from, from + 40)}`);
      if (type.name === 'VectorSelector') query.selectors.push(readSelector(node, textOf));
      if (type.name === 'GroupingLabels') query.groupings.push(...node.getChildren('LabelName').map(textOf));
    },
  });
  return query;
}

function readSelector(node: SyntaxNode, textOf: (node: SyntaxNode) => string) {
  const identifier = node.getChild('Identifier');
  if (identifier === null) throw new Error(`A selector without the name of a metric: ${textOf(node)}`);
  const matchers = node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? [];
  const labels = matchers.map((matcher) => {
    const [name, value] = [matcher.getChild('LabelName')!, matcher.getChild('StringLiteral')!].map(textOf);
    return [name, value!.slice(1, -1)];
  });
  return { metric: textOf(identifier), labels: Object.fromEntries(labels) as Record<string, string> };
}
