/** The life of an alert, pure. The way into `machine/`. */
export { type Streak, streakOf, subjectOf } from './machine/streak.ts'
export { transition } from './machine/transition.ts'
export {
  type AlertEvent,
  type AlertInput,
  EVENT_KINDS,
  type Rules,
  SILENT,
  type Subject,
  type Transition,
  type Violation,
} from './machine/types.ts'
export { badEventsOf } from './machine/widened.ts'
