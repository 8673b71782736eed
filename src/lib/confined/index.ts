export { ConfinedError, type ConfinedErrorKind, ConfinedThread } from './thread.ts'
