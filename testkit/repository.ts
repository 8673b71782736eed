import { join } from 'node:path'

/** The project's top folder. */
export const REPOSITORY = join(import.meta.dirname, '..')
/** What starts the program. */
export const PROGRAM = join(REPOSITORY, 'bin/tagwarden.mjs')
