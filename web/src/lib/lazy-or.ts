import { type ComponentType, lazy } from 'react'

/** A part that is loaded when it is shown first. Where its code does not load, as after an update, `Missing` is there instead of an error that takes the page. */
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
