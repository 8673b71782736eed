/** Pages and scripts that strangers wrote, read where they can do no harm. */
export { bodyOf, type FetchedBody } from './pages/body.ts'
export { PageReadError, PageReader } from './pages/page-reader.ts'
