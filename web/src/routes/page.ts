import type { LucideIcon } from 'lucide-react'

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** The page's entry in the rail; none for pages that one reaches from another. */
    nav?: { label: string; icon: LucideIcon }
  }
}
