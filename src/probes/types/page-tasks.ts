import { decodeBody } from '../../outbound/index.ts'
import {
  type ContainerReading,
  type PageQuestion,
  type PageReading,
  readConsentPage,
  readContainer,
} from '../cmp-check/read.ts'
import { type Environment, environmentOf, publishedVersion } from '../tag-manager-version/page-text.ts'
import type { FetchedBody } from './fetched-body.ts'

const textOf = (body: FetchedBody): string => decodeBody(body, body.contentType ?? undefined)

/** Where browsers look for the charset of a page whose server names none. */
const META_BYTES = 1_024
const META_CHARSET = /<meta\s[^>]{0,200}?\bcharset\s*=\s*["']?\s*([\w:-]{1,40})/i

function withCharset({ bytes, contentType }: FetchedBody): string {
  const start = new TextDecoder('latin1').decode(bytes.subarray(0, META_BYTES))
  const charset = META_CHARSET.exec(start)?.[1] ?? ''
  // What could be read as ASCII is no UTF-16.
  const isUsable = charset !== '' && !/^utf-?16/i.test(charset) && !/charset\s*=/i.test(contentType ?? '')
  return isUsable ? `text/html; charset=${charset}` : (contentType ?? '')
}

/** What the thread for pages can do. Each task takes time in proportion to the body and returns a few kB. */
export const tasks = {
  consentPage: ({ body, question }: { body: FetchedBody; question: PageQuestion }): PageReading =>
    readConsentPage(decodeBody(body, withCharset(body)), question),
  container: ({ body, ownAddress }: { body: FetchedBody; ownAddress: string | null }): ContainerReading =>
    readContainer(textOf(body), ownAddress),
  /** Null when the script names no version. */
  publishedVersion: ({ body }: { body: FetchedBody }): string | null => publishedVersion(textOf(body)),
  environment: ({ body }: { body: FetchedBody }): Environment => environmentOf(textOf(body)),
}

export type PageTasks = typeof tasks
