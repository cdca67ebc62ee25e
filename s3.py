from dg2 import *
import sys
P={"i":[1,1,1,1,.3,0],"j":[1,1,1,.9,.5,0],"k":[1,1,1,1,.7,0],"l":[1,1,1,.95,.4,0],"4":[1,1,1,1,1,0],"3":[1,1,1,1,0,0],"5":[1]*6,"h":[1,1,1,1,.5,0],"g":[1,1,1,1,.7,.2],"e":[1,1,1,.9,.6,.1]}
kw=dict(force=(.8,.5)) if sys.argv[1]=="f" else {}
for cfg in sys.argv[2:]:
    R,s,q,d=cfg.split(":"); R,s,q=float(R),float(s),int(q)
    tot=[]
    for p in ("odd","corner","face","middle"):
        e,*_=errors(lambda src: filt(project(lambda x,y: kernel(R,s,q)((x-src[0])**2+(y-src[1])**2),5),P[d]),p,radii=(1.,1.25,1.5,2.),**kw)
        tot.append(np.sqrt((e**2).mean(1)))
    tot=100*np.array(tot)
    print(cfg.ljust(12),"worst pos rms",np.round(tot.max(0),2),"corner",np.round(tot[1],2),flush=True)
