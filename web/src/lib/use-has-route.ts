import { useRouter } from '@tanstack/react-router'

/** Whether this build has a page at a path such as `/sites/$siteId`. */
export function useHasRoute(path: string): boolean {
  return path in useRouter().routesByPath
}
