import { useNavigate, useRouter } from '@tanstack/react-router'
import { useState } from 'react'

/**
 * Leads on from what is saved or deleted, but not someone who has gone elsewhere meanwhile. The address says that: what showed a thing may
 * be gone before the word that it is deleted.
 */
export function useLeadOn(): ReturnType<typeof useNavigate> {
  const navigate = useNavigate()
  const router = useRouter()
  const [here] = useState(() => router.latestLocation.pathname)
  return async (options) => {
    if (router.latestLocation.pathname === here) await navigate(options)
  }
}
