import { type ComponentType, lazy } from 'react'

/** A component loaded on first use. When its code cannot be loaded, as after an update, it renders `Missing` instead of failing the page. */
export const lazyOr = <Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Missing: ComponentType<Props>,
) =>
  lazy(() =>
    load().then(
      (Part) => ({ default: Part }),
      () => ({ default: Missing }),
    ),
  )
