import type { Component } from '@tollkeeper/runtime';

/** A component that is created at its start, because it needs addresses that exist only then. */
export interface LateComponent<C extends Component> extends Component {
  /** The created component. Throws before the start. */
  readonly made: C;
}

export function createLate<C extends Component>(name: string, create: () => C | Promise<C>): LateComponent<C> {
  let component: C | undefined;
  return {
    name,
    get made() {
      if (!component) throw new Error(`${name} has not been started yet`);
      return component;
    },
    async start() {
      component = await create();
      await component.start();
    },
    drain: () => component?.drain?.(),
    stop: async () => component?.stop(),
    ready: async () => component?.ready?.(),
    impaired: async () => component?.impaired?.(),
  };
}
