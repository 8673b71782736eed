import { Type } from 'typebox'
import { EXPECTS } from '../http/index.ts'

const NOT_BLANK = { pattern: '\\S', [EXPECTS]: 'text that is not blank' }

export const Name = Type.String({ ...NOT_BLANK, maxLength: 200, description: 'Space around it is removed' })

export const HttpUrl = Type.String({ format: 'http-url', maxLength: 2_048 })

/** An identifier or name that another service gave. */
export const ForeignName = Type.String({ ...NOT_BLANK, maxLength: 200 })

/** Text of one form; `expects` ends the sentence "must be …". */
export const Patterned = (pattern: string, expects: string) => Type.String({ pattern, [EXPECTS]: expects })

/** Query parameter of the lists of clients and sites. */
export const ActiveOnly = Type.Boolean({ default: false, description: 'Leaves out what is switched off' })
