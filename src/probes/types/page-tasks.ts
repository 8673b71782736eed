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

/** What the thread for pages can do. Each task takes time in proportion to the body and returns a few kB. */
export const tasks = {
  consentPage: ({ body, question }: { body: FetchedBody; question: PageQuestion }): PageReading =>
    readConsentPage(textOf(body), question),
  container: ({ body, ownAddress }: { body: FetchedBody; ownAddress: string | null }): ContainerReading =>
    readContainer(textOf(body), ownAddress),
  /** Null when the script names no version. */
  publishedVersion: ({ body }: { body: FetchedBody }): string | null => publishedVersion(textOf(body)),
  environment: ({ body }: { body: FetchedBody }): Environment => environmentOf(textOf(body)),
}

export type PageTasks = typeof tasks
