-- The health of a ClusterCatalog for Argo CD, from catalogd's own conditions: olmgate writes none there. With it a sync
-- wave of catalogs is over when they are served. Argo CD gives no string library here, and one second.

local function field(value, name)
  if type(value) == "table" then
    return value[name]
  end
  return nil
end

local function text(value)
  if type(value) == "string" or type(value) == "number" then
    return tostring(value)
  end
  return ""
end

local function condition(name)
  local conditions = field(obj.status, "conditions")
  if type(conditions) == "table" then
    for _, c in ipairs(conditions) do
      if field(c, "type") == name then
        return c
      end
    end
  end
  return nil
end

-- A condition counts if it is about the spec as it is now.
local function current(c)
  return c ~= nil and c.observedGeneration ~= nil and c.observedGeneration == field(obj.metadata, "generation")
end

local function is(c, status)
  return current(c) and c.status == status
end

local function says(c)
  local reason, message = text(c.reason), text(c.message)
  if reason == "" or message == "" then
    return reason .. message
  end
  return reason .. ": " .. message
end

local function health(status, message)
  return { status = status, message = message }
end

local progressing = condition("Progressing")
local serving = condition("Serving")

if field(obj.metadata, "deletionTimestamp") ~= nil then
  return health("Progressing", "It is being deleted.")
end

if is(progressing, "False") then
  return health("Degraded", says(progressing))
end
if not current(progressing) then
  return health("Progressing", "catalogd has not seen the present spec yet.")
end
-- Retrying: an older content may still be served.
if not is(progressing, "True") or progressing.reason ~= "Succeeded" then
  return health("Progressing", says(progressing))
end

if is(serving, "True") then
  return health("Healthy", "It is served.")
end
if is(serving, "False") and serving.reason == "UserSpecifiedUnavailable" then
  return health("Healthy", "It is not served, as spec.availabilityMode says.")
end
if current(serving) then
  return health("Progressing", says(serving))
end
return health("Progressing", "It is not served yet.")
