import { useEffect } from 'react'
import type { Status } from '../../api/overview.ts'

/** Has the browser's tab show a title and, by its icon, a status: so that one need not switch to it. */
export function useTab(title: string, status: Status): void {
  useEffect(() => {
    document.title = title
  }, [title])
  useEffect(() => {
    document.querySelector('link[rel="icon"]')?.setAttribute('href', `/static/favicon-${status}.svg`)
  }, [status])
}
