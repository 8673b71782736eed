import { join } from 'node:path'

/** The project's top folder. */
export const REPOSITORY = join(import.meta.dirname, '..')
/** The variable with the program's entry, set by a run of many tests. */
export const PROGRAM_FOR_TESTS = 'TAGWARDEN_TEST_PROGRAM'
/** The entry that runs the program from its sources. */
export const PROGRAM_OF_SOURCES = join(REPOSITORY, 'bin/tagwarden.mjs')
/** The program's entry. A run of many tests uses the bundle, which starts in two thirds of the processor time. */
export const PROGRAM = process.env[PROGRAM_FOR_TESTS] ?? PROGRAM_OF_SOURCES
